/** Pointer, wheel and keys on a chart. The page scrolls as ever: a plain wheel and a vertical swipe are never taken. */
import type { Chart } from "./chart";
import { el } from "./dom";
import type { Range } from "./numbers";

const CLICK = 4; // pixels
const BOX = 26; // a drag higher than this is a box, else a span of time

export function chartGestures(chart: Chart): void {
  const { over } = chart.plot;
  const { state } = chart;
  const timed = !chart.spec.across;
  const box = el("div", { class: "box", hidden: true });
  over.append(box);
  const fingers = new Map<number, { x: number; y: number }>();
  let begin: { x: number; y: number; pan: boolean; window: Range; ranges: Range[] } | null = null;
  let pinch: { gap: number; middle: number; window: Range } | null = null;

  const place = (e: MouseEvent) => {
    const frame = over.getBoundingClientRect();
    return { x: e.clientX - frame.left, y: e.clientY - frame.top };
  };
  const timeAt = (x: number) => chart.plot.posToVal(x, "x");
  const within = (t: number) => Math.min(Math.max(t, state.clock.start.peek()), state.clock.end.peek());
  const scales = () => chart.spec.axes.map((_, k): Range => {
    const s = chart.plot.scales[k ? "y2" : "y"];
    return [s.min!, s.max!];
  });

  over.addEventListener("pointerdown", (e) => {
    if (e.button === 2) return;
    const p = place(e);
    fingers.set(e.pointerId, p);
    over.setPointerCapture(e.pointerId);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      pinch = { gap: Math.max(Math.abs(a.x - b.x), 20), middle: (a.x + b.x) / 2, window: chart.window };
      begin = null;
      box.hidden = true;
    } else begin = { ...p, pan: e.shiftKey || e.button === 1, window: chart.window, ranges: scales() };
    if (e.button === 1) e.preventDefault();
  });

  over.addEventListener("pointermove", (e) => {
    const p = place(e);
    if (fingers.has(e.pointerId)) fingers.set(e.pointerId, p);
    if (pinch && fingers.size === 2 && !chart.spec.across?.log) {
      const [a, b] = [...fingers.values()];
      const factor = pinch.gap / Math.max(Math.abs(a.x - b.x), 20);
      const width = over.clientWidth;
      const [low, high] = pinch.window;
      const centre = low + ((high - low) * pinch.middle) / width;
      const span = (high - low) * factor;
      const from = centre - (span * ((a.x + b.x) / 2)) / width;
      chart.lookAt(from, from + span);
      return;
    }
    if (timed && !(begin && begin.pan)) state.clock.hover.value = within(timeAt(p.x));
    else if (!timed) look(timeAt(p.x));
    if (!begin || e.pointerType === "touch") return;
    if (begin.pan) return shift(p);
    const moved = Math.max(Math.abs(p.x - begin.x), Math.abs(p.y - begin.y)) > CLICK;
    box.hidden = !moved;
    if (moved) {
      const whole = Math.abs(p.y - begin.y) < BOX;
      const [left, right] = [Math.min(p.x, begin.x), Math.max(p.x, begin.x)];
      const [top, bottom] = whole ? [0, over.clientHeight] : [Math.min(p.y, begin.y), Math.max(p.y, begin.y)];
      Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    }
  });

  function shift(p: { x: number; y: number }): void {
    const { window, ranges, x, y } = begin!;
    if (chart.spec.across?.log) return;
    const dx = ((p.x - x) / over.clientWidth) * (window[1] - window[0]);
    const dy = (p.y - y) / over.clientHeight;
    if (chart.box || Math.abs(p.y - y) > BOX)
      chart.box = ranges.map(([low, high], k): Range => (chart.spec.axes[k].log ? [low, high] : [low + dy * (high - low), high + dy * (high - low)]));
    chart.lookAt(window[0] - dx, window[1] - dx);
    chart.redraw();
  }

  const done = (e: PointerEvent) => {
    const p = place(e);
    const was = begin;
    fingers.delete(e.pointerId);
    if (fingers.size < 2) pinch = null;
    begin = null;
    box.hidden = true;
    if (!was || e.type === "pointercancel" || was.pan) return;
    const [dx, dy] = [Math.abs(p.x - was.x), Math.abs(p.y - was.y)];
    if (e.pointerType === "touch" || Math.max(dx, dy) <= CLICK) {
      if (timed) state.clock.stay(within(timeAt(p.x)));
      return;
    }
    if (dx <= CLICK) return;
    if (dy >= BOX) {
      const height = over.clientHeight;
      const shares: Range = [1 - Math.max(p.y, was.y) / height, 1 - Math.min(p.y, was.y) / height];
      chart.box = was.ranges.map(([low, high], k): Range => {
        if (chart.spec.axes[k].log) return [low * (high / low) ** shares[0], low * (high / low) ** shares[1]];
        return [low + shares[0] * (high - low), low + shares[1] * (high - low)];
      });
    }
    chart.lookAt(timeAt(Math.min(p.x, was.x)), timeAt(Math.max(p.x, was.x)));
    chart.redraw();
  };
  over.addEventListener("pointerup", done);
  over.addEventListener("pointercancel", done);
  const look = (place: number | null): void => {
    chart.spot = place;
    chart.mark();
  };
  over.addEventListener("pointerleave", () => {
    if (!timed) look(null);
    state.clock.hover.value = null;
  });
  over.addEventListener("dblclick", () => chart.reset());

  over.addEventListener(
    "wheel",
    (e) => {
      if (!(e.ctrlKey || e.metaKey || e.shiftKey)) return;
      e.preventDefault();
      const [low, high] = chart.window;
      const turned = e.deltaY || e.deltaX;
      zoom(Math.exp(turned * 0.002), chart.spec.across?.log ? timeAt(place(e).x) : low + ((high - low) * place(e).x) / over.clientWidth);
    },
    { passive: false },
  );

  function zoom(factor: number, centre: number): void {
    const [low, high] = chart.window;
    if (chart.spec.across?.log) chart.lookAt(centre * (low / centre) ** factor, centre * (high / centre) ** factor);
    else chart.lookAt(centre - (centre - low) * factor, centre + (high - centre) * factor);
  }

  over.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const [low, high] = chart.window;
    const span = high - low;
    const centre = timed ? within(state.clock.shown.peek()) : chart.spec.across?.log ? Math.sqrt(low * high) : (low + high) / 2;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => (e.shiftKey ? chart.lookAt(low - 0.1 * span, high - 0.1 * span) : state.step(-1)),
      ArrowRight: () => (e.shiftKey ? chart.lookAt(low + 0.1 * span, high + 0.1 * span) : state.step(1)),
      "+": () => zoom(1 / 1.3, centre),
      "=": () => zoom(1 / 1.3, centre),
      "-": () => zoom(1.3, centre),
      "0": () => chart.reset(),
      Escape: () => chart.reset(),
      p: () => timed && chart.pinOrFree(),
      P: () => timed && chart.pinOrFree(),
    };
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  });
}
