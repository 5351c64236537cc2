"use strict";
// The arm on a canvas and a cursor through every chart. Reads the samples in #samples, asks nobody for anything.
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  function shown(value) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e5) {
      const [mantissa, exponent] = value.toExponential(2).split("e");
      return `${mantissa.replace("-", "−")}·10${[...exponent.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
    }
    const digits = value.toPrecision(4);
    return (digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits).replace("-", "−");
  }

  function fixed(value) { return (Math.abs(value) < 5e-4 ? 0 : value).toFixed(3).replace("-", "−"); }

  // ------------------------------------------------------------------ time: one clock for arm and charts
  function makeClock(times) {
    const last = times[times.length - 1];
    const listeners = [];
    return {
      times, start: times[0], end: last, now: times[0],
      listen(f) { listeners.push(f); },
      set(t) {
        this.now = Math.min(Math.max(t, this.start), this.end);
        for (const f of listeners) f(this.now);
      },
      frame(t) { // position between recorded frames: whole part and fraction
        let low = 0, high = times.length - 1;
        while (high - low > 1) {
          const middle = (low + high) >> 1;
          if (times[middle] <= t) low = middle; else high = middle;
        }
        const span = times[high] - times[low];
        return [low, high, span > 0 ? Math.min(Math.max((t - times[low]) / span, 0), 1) : 0];
      },
    };
  }

  // ------------------------------------------------------------------ camera: orbit, mild perspective
  const PIECES = 6;
  const VIEWS = { space: [-52, 22], top: [-90, 90], front: [-90, 0], side: [0, 0] };

  function makeCamera(arm) {
    const camera = { azimuth: 0, elevation: 0, zoom: 1, centre: arm.centre, radius: arm.size, fit: null };
    camera.look = (name) => {
      [camera.azimuth, camera.elevation] = VIEWS[name].map((x) => x * Math.PI / 180);
      camera.zoom = 1;
      camera.fit = null;
    };
    camera.axes = () => {
      const [ca, sa, ce, se] = [Math.cos(camera.azimuth), Math.sin(camera.azimuth), Math.cos(camera.elevation), Math.sin(camera.elevation)];
      return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], near: [ce * ca, ce * sa, se] };
    };
    return camera;
  }

  function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  function plus(a, b, k) { return [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]]; }

  function makeView(camera, arm, width, height) {
    const { right, up, near } = camera.axes();
    const raw = (p) => { const d = plus(p, camera.centre, -1); return [dot(d, right), dot(d, up), dot(d, near)]; };
    if (!camera.fit) {
      let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
      const see = (p) => { const r = raw(p); for (let k = 0; k < 2; k++) { low[k] = Math.min(low[k], r[k]); high[k] = Math.max(high[k], r[k]); } };
      for (const frame of arm.points) for (let k = 0; k < frame.length; k += 3) see(frame.slice(k, k + 3));
      for (const p of arm.target || []) see(p);
      for (const { body, reach } of arm.look ? arm.look.surfaces : []) for (const row of arm.look.poses) {
        const origin = row.slice(9 * body, 9 * body + 3);
        for (const side of [right, up]) for (const k of [-reach, reach]) see(plus(origin, side, k));
      }
      const pad = 0.1 * arm.size;
      camera.fit = { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, w: high[0] - low[0] + 2 * pad, h: high[1] - low[1] + 2 * pad };
    }
    const scale = Math.min(width / camera.fit.w, height / camera.fit.h) * camera.zoom;
    const far = 7 * arm.size;
    const place = (p) => {
      const [x, y, z] = raw(p);
      const k = far / Math.max(far - z, 0.1 * far);
      return [width / 2 + (x - camera.fit.x) * k * scale, height / 2 - (y - camera.fit.y) * k * scale, z, k];
    };
    return { place, scale, right, up, near };
  }

  // ------------------------------------------------------------------ drawing
  function colours(count) {
    const style = getComputedStyle(root);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      ink: read("--ink"), muted: read("--muted"), rule: read("--rule"), trace: read("--trace"), target: read("--target"), stage: read("--stage"),
      joints: Array.from({ length: count }, (_, i) => read(`--j${(i % 8) + 1}`)),
    };
  }

  function mixed(hex, towards, share) {
    const parse = (h) => [1, 3, 5].map((k) => parseInt(h.slice(k, k + 2), 16));
    const [a, b] = [parse(hex), parse(towards)];
    return `rgb(${a.map((x, k) => Math.round(x + (b[k] - x) * share)).join(",")})`;
  }

  function nice(length) {
    const power = 10 ** Math.floor(Math.log10(length));
    return [1, 2, 5, 10].map((k) => k * power).find((x) => x >= length * 0.999);
  }

  function makeStage(canvas, arm, names) {
    const context = canvas.getContext("2d");
    const camera = makeCamera(arm);
    const n = arm.prismatic.length;
    let palette = colours(n);
    const options = { trace: true, target: true, shapes: true };
    let posture = [0, 0, 0];

    function polygon(points, fill, stroke) {
      context.beginPath();
      points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      if (fill) { context.fillStyle = fill; context.fill(); }
      if (stroke) { context.strokeStyle = stroke; context.lineWidth = 1; context.stroke(); }
    }
    function line(points, colour, width, dash) {
      if (points.length < 2) return;
      context.beginPath();
      points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.strokeStyle = colour; context.lineWidth = width; context.setLineDash(dash || []);
      context.lineCap = dash ? "butt" : "round"; context.lineJoin = "round"; context.stroke(); context.setLineDash([]);
    }
    function bar(a, b, colour, width, cap) {
      for (const [w, c] of [[width + 2, mixed(colour, "#000000", 0.35)], [width, colour], [width * 0.3, mixed(colour, "#ffffff", 0.4)]]) {
        context.beginPath(); context.moveTo(a[0], a[1]); context.lineTo(b[0], b[1]);
        context.strokeStyle = c; context.lineWidth = w; context.lineCap = cap; context.stroke();
      }
    }
    function across(axis) { // two unit vectors square to an axis
      const other = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
      const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
      let u = cross(axis, other);
      const length = Math.hypot(...u);
      u = u.map((x) => x / length);
      return [u, cross(axis, u)];
    }

    function floor(view) {
      const spacing = nice(arm.size / 7);
      const [a, b] = arm.plane || [0, 1];
      const normal = 3 - a - b;
      const level = arm.plane ? arm.base[normal] : Math.min(arm.low[2], arm.base[2]);
      const span = [a, b].map((k) => [Math.floor((arm.low[k] - 0.15 * arm.size) / spacing), Math.ceil((arm.high[k] + 0.15 * arm.size) / spacing)]);
      const at = (u, v) => { const p = [0, 0, 0]; p[a] = u * spacing; p[b] = v * spacing; p[normal] = level; return view.place(p); };
      for (let u = span[0][0]; u <= span[0][1]; u++) line([at(u, span[1][0]), at(u, span[1][1])], palette.rule, u === 0 ? 1.8 : 0.8);
      for (let v = span[1][0]; v <= span[1][1]; v++) line([at(span[0][0], v), at(span[0][1], v)], palette.rule, v === 0 ? 1.8 : 0.8);
      return { spacing, level, normal };
    }

    function surfaces(view, things) { // what the robot looks like: triangles that face the viewer, lit from above the shoulder
      const [i, j, f] = posture, rows = arm.look.poses;
      const unit = (v) => { const s = Math.hypot(...v) || 1; return v.map((x) => x / s); };
      const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
      const light = unit(plus(plus(view.near, view.up, 0.8), view.right, 0.4));
      for (const { body, corners, faces, colour, opacity } of arm.look.surfaces) {
        const at = (k) => [0, 1, 2].map((c) => rows[i][9 * body + k + c] * (1 - f) + rows[j][9 * body + k + c] * f);
        const origin = at(0), x = unit(at(3)), y0 = at(6), y = unit(plus(y0, x, -dot(x, y0))), z = cross(x, y);
        const placed = [];
        for (let k = 0; k < corners.length; k += 3) {
          const point = plus(plus(plus(origin, x, corners[k]), y, corners[k + 1]), z, corners[k + 2]);
          placed.push([point, view.place(point)]);
        }
        for (let k = 0; k < faces.length; k += 3) {
          const [[a, A], [b, B], [c, C]] = [placed[faces[k]], placed[faces[k + 1]], placed[faces[k + 2]]];
          if ((B[0] - A[0]) * (C[1] - A[1]) >= (C[0] - A[0]) * (B[1] - A[1])) continue; // seen from behind
          const bright = dot(unit(cross(plus(b, a, -1), plus(c, a, -1))), light);
          things.push([(A[2] + B[2] + C[2]) / 3, () => {
            const shade = bright > 0.75 ? mixed(colour, "#ffffff", bright - 0.75) : mixed(colour, "#000000", Math.min(0.6, 0.6 * (0.75 - bright)));
            context.globalAlpha = opacity; polygon([A, B, C], shade, shade); context.globalAlpha = 1;
          }]);
        }
      }
    }

    function triad(view, width, height) {
      const origin = [46, height - 40];
      context.font = "600 12px system-ui, sans-serif"; context.textAlign = "center"; context.textBaseline = "middle";
      [["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]].map(([name, e]) => [name, dot(e, view.right), dot(e, view.up), dot(e, view.near)])
        .sort((p, q) => p[3] - q[3]).forEach(([name, x, y]) => {
          if (Math.hypot(x, y) < 0.15) return;
          line([origin, [origin[0] + 26 * x, origin[1] - 26 * y]], palette.muted, 2);
          context.fillStyle = palette.muted; context.fillText(name, origin[0] + 36 * x, origin[1] - 36 * y);
        });
    }

    function draw() {
      const ratio = Math.min(window.devicePixelRatio || 1, 3);
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      if (!width || !height) return;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); camera.fit = null;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      const view = makeView(camera, arm, width, height);
      const ground = floor(view);
      const [i, j, f] = posture;
      const between = (rows, k) => [0, 1, 2].map((c) => rows[i][3 * k + c] * (1 - f) + rows[j][3 * k + c] * f);
      const p = Array.from({ length: arm.points[0].length / 3 }, (_, k) => between(arm.points, k));
      const axes = Array.from({ length: n }, (_, k) => { const v = between(arm.axes, k); const s = Math.hypot(...v) || 1; return v.map((x) => x / s); });
      const thick = Math.max(0.03 * arm.size * view.scale, 4);
      const parts = arm.lines.concat(arm.slides);

      if (!arm.plane) { // shadow on the floor
        context.globalAlpha = dark.matches && !root.hasAttribute("data-print") ? 0.35 : 0.1;
        for (const [a, b] of parts) line([a, b].map((k) => view.place([p[k][0], p[k][1], ground.level])), "#000000", thick * 0.8);
        context.globalAlpha = 1;
      }
      const disc = [];
      const [du, dv] = across(arm.plane ? [0, 1, 2].map((k) => (k === ground.normal ? 1 : 0)) : [0, 0, 1]);
      for (let k = 0; k < 40; k++) {
        const w = k * Math.PI / 20;
        disc.push(view.place(plus(plus(arm.base, du, 0.06 * arm.size * Math.cos(w)), dv, 0.06 * arm.size * Math.sin(w))));
      }
      polygon(disc, mixed(palette.muted, palette.stage, 0.55), palette.muted);

      if (options.target && arm.target) line(arm.target.map(view.place), palette.target, 1.6, [6, 5]);
      if (options.trace && arm.tip !== null) {
        const path = arm.points.map((row) => view.place(row.slice(3 * arm.tip, 3 * arm.tip + 3)));
        context.globalAlpha = 0.25; line(path.slice(i), palette.trace, 1.6); context.globalAlpha = 1;
        line(path.slice(0, i + 1).concat([view.place(p[arm.tip])]), palette.trace, 2.2);
      }

      const things = [];
      const dressed = options.shapes && arm.look;
      if (dressed) surfaces(view, things);
      for (const [a, b, joint] of dressed ? [] : arm.lines) {
        for (let part = 0; part < PIECES; part++) { // in pieces, so that what is nearer covers what is farther
          const along = (share) => view.place(p[a].map((x, c) => x + (p[b][c] - x) * share));
          const [s, e] = [along(part / PIECES), along((part + 1) / PIECES)];
          const length = Math.hypot(e[0] - s[0], e[1] - s[1]) || 1, over = part + 1 < PIECES ? 0.7 / length : 0;
          e[0] += (e[0] - s[0]) * over; e[1] += (e[1] - s[1]) * over;
          things.push([(s[2] + e[2]) / 2, () => bar(s, e, joint < 0 ? palette.muted : palette.joints[joint], thick, "butt")]);
        }
      }
      for (const [a, b, joint] of dressed ? [] : arm.slides) {
        const [s, e] = [view.place(p[a]), view.place(p[b])];
        things.push([(s[2] + e[2]) / 2 - 1e-6, () => bar(s, e, palette.joints[joint], thick * 0.55, "butt")]);
      }
      for (let k = 0; k < (dressed ? 0 : n); k++) {
        const centre = p[k + 1], axis = dot(axes[k], view.near) >= 0 ? axes[k] : axes[k].map((x) => -x);
        const reach = (arm.prismatic[k] ? 1.5 : 0.95) * 0.03 * arm.size, radius = (arm.prismatic[k] ? 0.8 : 0.95) * thick / view.scale;
        const [u, v] = across(axis);
        const corners = arm.prismatic[k] ? 4 : 28;
        const ring = (side) => Array.from({ length: corners }, (_, c) => {
          const w = 2 * Math.PI * (c + 0.5) / corners;
          return view.place(plus(plus(plus(centre, axis, side * reach), u, radius * Math.cos(w)), v, radius * Math.sin(w)));
        });
        things.push([view.place(centre)[2] + 0.05 * arm.size, () => {
          const [back, front] = [ring(-1), ring(1)];
          const side = mixed(palette.joints[k], "#000000", 0.28);
          for (let c = 0; c < corners; c++) polygon([back[c], back[(c + 1) % corners], front[(c + 1) % corners], front[c]], side, side);
          polygon(front, mixed(palette.joints[k], "#ffffff", 0.22), mixed(palette.joints[k], "#000000", 0.35));
        }]);
      }
      things.sort((a, b) => a[0] - b[0]).forEach(([, paint]) => paint());
      if (arm.tip !== null) {
        const tip = view.place(p[arm.tip]);
        context.beginPath(); context.arc(tip[0], tip[1], Math.max(thick * 0.32, 3.5), 0, 7);
        context.fillStyle = palette.trace; context.fill(); context.lineWidth = 1.5; context.strokeStyle = palette.stage; context.stroke();
      }
      triad(view, width, height);
      context.font = "12px system-ui, sans-serif"; context.textAlign = "right"; context.textBaseline = "alphabetic"; context.fillStyle = palette.muted;
      context.fillText(`grid ${shown(ground.spacing)} m`, width - 14, height - 14);
    }

    let asked = false;
    const ask = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } };
    const home = arm.plane ? { "0,1": "top", "0,2": "front", "1,2": "side" }[arm.plane.join(",")] : "space";
    camera.look(home);
    return {
      camera, options, home, ask, draw,
      show(at) { posture = at; ask(); },
      recolour() { palette = colours(n); draw(); },
    };
  }

  function makePlayer(data, clock) {
    const arm = data.arm, canvas = $("stage");
    const stage = makeStage(canvas, arm, data.names);
    const [play, scrub, speed, time] = ["play", "scrub", "speed", "time"].map($);
    let playing = false, before = 0, rest = 0;

    scrub.min = clock.start; scrub.max = clock.end; scrub.step = "any";
    const cells = data.names.map((_, k) => $(`value-${k}`));
    const tip = ["x", "y", "z"].map((c) => $(`tip-${c}`));
    clock.listen((t) => {
      const at = clock.frame(t);
      stage.show(at);
      scrub.value = t;
      scrub.setAttribute("aria-valuetext", `${t.toFixed(3)} seconds`);
      time.textContent = `${t.toFixed(3)} s`;
      const [i, j, f] = at;
      cells.forEach((cell, k) => { cell.textContent = fixed(data.q[i][k] * (1 - f) + data.q[j][k] * f); });
      if (arm.tip !== null) tip.forEach((cell, c) => {
        const k = 3 * arm.tip + c;
        cell.textContent = fixed(arm.points[i][k] * (1 - f) + arm.points[j][k] * f);
      });
    });
    function tick(stamp) {
      if (!playing) return;
      const passed = Math.min((stamp - before) / 1000, 0.25);
      before = stamp;
      if (clock.now >= clock.end) {
        rest += passed;
        if (rest > 0.9) { rest = 0; clock.set(clock.start); }
      } else clock.set(clock.now + passed * Number(speed.value));
      requestAnimationFrame(tick);
    }
    function run(on) {
      playing = on;
      play.setAttribute("aria-label", on ? "Pause" : "Play");
      play.classList.toggle("running", on);
      if (on) { if (clock.now >= clock.end) clock.set(clock.start); rest = 0; requestAnimationFrame((s) => { before = s; tick(s); }); }
    }
    play.addEventListener("click", () => run(!playing));
    scrub.addEventListener("input", () => { run(false); clock.set(Number(scrub.value)); });
    for (const name of ["trace", "target", "shapes"]) {
      const box = $(`show-${name}`);
      if (box) box.addEventListener("change", () => { stage.options[name] = box.checked; stage.ask(); });
    }
    for (const button of document.querySelectorAll("[data-view]"))
      button.addEventListener("click", () => { stage.camera.look(button.dataset.view === "home" ? stage.home : button.dataset.view); stage.ask(); });

    const zoom = (factor) => { stage.camera.zoom = Math.min(Math.max(stage.camera.zoom * factor, 0.2), 20); stage.ask(); };
    const orbit = (dx, dy) => {
      const camera = stage.camera, quarter = Math.PI / 2;
      camera.azimuth -= dx; camera.elevation = Math.min(Math.max(camera.elevation + dy, -quarter), quarter); stage.ask();
    };
    const pointers = new Map();
    canvas.addEventListener("pointerdown", (e) => { pointers.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      const old = pointers.get(e.pointerId);
      if (!old) return;
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        zoom(gap([e.clientX, e.clientY]) / Math.max(gap(old), 1));
      } else orbit((e.clientX - old[0]) * 0.008, (e.clientY - old[1]) * 0.008);
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => pointers.delete(e.pointerId));
    canvas.addEventListener("wheel", (e) => { if (e.ctrlKey || e.shiftKey || document.activeElement === canvas) { e.preventDefault(); zoom(Math.exp(-e.deltaY * 0.0015)); } }, { passive: false });
    canvas.addEventListener("dblclick", () => { stage.camera.look(stage.home); stage.ask(); });
    const keys = {
      ArrowLeft: () => orbit(0.08, 0), ArrowRight: () => orbit(-0.08, 0), ArrowUp: () => orbit(0, 0.08), ArrowDown: () => orbit(0, -0.08),
      "+": () => zoom(1.15), "=": () => zoom(1.15), "-": () => zoom(1 / 1.15), 0: () => { stage.camera.look(stage.home); stage.ask(); },
      " ": () => run(!playing), Home: () => clock.set(clock.start), End: () => clock.set(clock.end),
      ",": () => step(-1), ".": () => step(1),
    };
    function step(by) { run(false); const [i] = clock.frame(clock.now + 1e-9); clock.set(clock.times[Math.min(Math.max(i + by, 0), clock.times.length - 1)]); }
    canvas.addEventListener("keydown", (e) => { const act = keys[e.key]; if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); } });

    new ResizeObserver(() => stage.ask()).observe(canvas);
    dark.addEventListener("change", () => stage.recolour());
    addEventListener("beforeprint", () => { run(false); root.setAttribute("data-print", ""); stage.recolour(); });
    addEventListener("afterprint", () => { root.removeAttribute("data-print"); stage.recolour(); });
    let seen = false;
    new IntersectionObserver((entries) => {
      if (!seen && entries[0].isIntersecting && !calm.matches) { seen = true; run(true); }
    }, { threshold: 0.5 }).observe(canvas);
    stage.draw();
    return { pause: () => run(false) };
  }

  // ------------------------------------------------------------------ charts: a cursor in time and the values under it
  function makeCharts(charts, clock, player) {
    const tooltip = $("tooltip");
    const cursors = [];
    for (const [id, panels] of Object.entries(charts)) {
      const figure = $(id), svg = figure && figure.querySelector("svg");
      if (!svg) continue;
      for (const panel of panels) {
        const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
        cursor.setAttribute("class", "cursor");
        cursor.setAttribute("y1", panel.box[1]); cursor.setAttribute("y2", panel.box[3]);
        svg.append(cursor);
        cursors.push([cursor, panel]);
      }
      const find = (e) => {
        const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const panel = panels.find(({ box }) => p.x >= box[0] && p.x <= box[2] && p.y >= box[1] - 6 && p.y <= box[3] + 6);
        return panel ? [panel, panel.span[0] + (p.x - panel.box[0]) / (panel.box[2] - panel.box[0]) * (panel.span[1] - panel.span[0])] : null;
      };
      svg.addEventListener("pointermove", (e) => { const hit = find(e); if (hit) tell(e, ...hit); else hide(); });
      svg.addEventListener("pointerleave", hide);
      svg.addEventListener("click", (e) => { const hit = find(e); if (hit) { if (player) player.pause(); clock.set(hit[1]); } });
    }
    function mark(t) {
      for (const [cursor, { box, span }] of cursors) {
        const x = box[0] + (t - span[0]) / (span[1] - span[0]) * (box[2] - box[0]);
        const inside = x >= box[0] - 0.5 && x <= box[2] + 0.5;
        cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
        cursor.style.visibility = inside ? "visible" : "hidden";
      }
    }
    function tell(e, panel, t) {
      const [i, j, f] = clock.frame(t), at = f > 0.5 ? j : i;
      const head = document.createElement("b");
      head.textContent = `t = ${clock.times[at].toFixed(3)} s`;
      const rows = panel.series.map(({ name, colour, values }) => {
        const row = document.createElement("div"), chip = document.createElement("i"), value = document.createElement("span");
        chip.style.background = colour;
        value.textContent = shown(values[at]);
        row.append(chip, `${name} `, value);
        return row;
      });
      tooltip.replaceChildren(head, ...rows);
      tooltip.hidden = false;
      const size = tooltip.getBoundingClientRect();
      tooltip.style.left = `${Math.min(e.clientX + 16, innerWidth - size.width - 8)}px`;
      tooltip.style.top = `${Math.min(e.clientY + 16, innerHeight - size.height - 8)}px`;
      mark(clock.times[at]);
    }
    function hide() { tooltip.hidden = true; mark(clock.now); }
    clock.listen(mark);
    mark(clock.now);
  }

  try {
    const data = JSON.parse($("samples").textContent);
    const clock = makeClock(data.t);
    const player = data.arm ? makePlayer(data, clock) : null;
    makeCharts(data.charts, clock, player);
    clock.set(data.show ?? clock.start);
    root.dataset.report = "ready";
  } catch (problem) {
    root.dataset.report = `failed: ${problem.message}`;
    throw problem;
  }
})();
