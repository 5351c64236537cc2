import type { Plugin } from "vite";

/** Pieces of shaders that nothing here draws with: only Lambert and basic materials and lines are used, without shadows, textures or backgrounds. */
const UNUSED =
  /^(lights_physical_(pars_)?fragment|shadowmap_pars_fragment|shadowmask_pars_fragment|transmission_(pars_)?fragment|iridescence_(pars_)?fragment|envmap_physical_pars_fragment|clearcoat_\w+|lights_phong_\w+|lights_toon_\w+|gradientmap_pars_fragment|(meshphysical|meshphong|meshtoon|meshmatcap|meshnormal|points|sprite|distance|shadow|background|backgroundCube|cube|equirect|depth)_(frag|vert))$/;

/** three.js without these pieces. */
export function slim(): Plugin {
  return {
    name: "slim-shaders",
    transform(code, id) {
      if (!id.endsWith("/three.module.js")) return null;
      const table = /const ShaderChunk = \{([\s\S]*?)\};/.exec(code)?.[1] ?? "";
      let out = code;
      let left = 0;
      for (const [, name, variable] of table.matchAll(/(\w+): ([\w$]+)/g)) {
        if (!UNUSED.test(name)) continue;
        const text = new RegExp(`((?:var|const) ${variable.replaceAll("$", "\\$")} = )"(?:[^"\\\\]|\\\\.)*";`);
        out = out.replace(text, (_, head: string) => (left++, `${head}"";`));
      }
      if (left < 20) throw new Error(`Only ${left} pieces of shaders were found in three.js: its form has changed.`);
      return { code: out, map: null };
    },
  };
}
