/** Arrays of numbers out of the text in which Python packed them (reports/packed.py): base64, deflated, bytes sorted by weight. */
import type { ArrayInfo } from "./wire";

export type Kind = ArrayInfo["type"];
export type { ArrayInfo };
export type Numbers = Float32Array | Float64Array | Uint16Array | Uint32Array;

const SIZES: Record<Kind, number> = { f4: 4, f8: 8, u2: 2, u4: 4 };
const MADE: Record<Kind, (b: ArrayBuffer) => Numbers> = {
  f4: (b) => new Float32Array(b),
  f8: (b) => new Float64Array(b),
  u2: (b) => new Uint16Array(b),
  u4: (b) => new Uint32Array(b),
};

const VIEWS = { f4: Float32Array, f8: Float64Array, u2: Uint16Array, u4: Uint32Array };

/** Arrays by number; columns stand one after the other. */
export class Arrays {
  private readonly known = new Map<number, Numbers>();
  constructor(
    private readonly infos: readonly ArrayInfo[],
    private readonly raw: Uint8Array,
    private readonly plain = false, // numbers as they lie in memory
  ) {}

  info(id: number): ArrayInfo {
    return this.infos[id];
  }

  all(id: number): Numbers {
    const found = this.known.get(id);
    if (found) return found;
    const { type, at, rows, columns } = this.infos[id];
    const size = SIZES[type];
    const count = rows * columns;
    if (this.plain) {
      const made = new VIEWS[type](this.raw.buffer as ArrayBuffer, this.raw.byteOffset + at, count);
      this.known.set(id, made);
      return made;
    }
    const bytes = new Uint8Array(count * size);
    for (let k = 0; k < size; k++) {
      const plane = at + k * count;
      for (let i = 0; i < count; i++) bytes[i * size + k] = this.raw[plane + i];
    }
    const made = MADE[type](bytes.buffer);
    this.known.set(id, made);
    return made;
  }

  column(id: number, column: number): Numbers {
    const { rows } = this.infos[id];
    return this.all(id).subarray(column * rows, (column + 1) * rows);
  }
}

export async function unpacked(infos: readonly ArrayInfo[], text: string | Uint8Array): Promise<Arrays> {
  if (typeof text !== "string") return new Arrays(infos, text, true);
  const letters = atob(text.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Arrays(infos, new Uint8Array(await new Response(stream).arrayBuffer()));
}
