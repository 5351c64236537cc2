/** Asking the server: verbs by name, runs on a socket, files of runs. */
import type { Progress, Summary, Told, Verbs } from "./wire";

export type { Summary, Told } from "./wire";

/** What the server refused, with the field beside which it is shown. */
export class Refusal extends Error {
  constructor(readonly told: Told) {
    super(told.message);
  }
}

export async function ask<V extends keyof Verbs>(verb: V, given: Verbs[V]["asks"], signal?: AbortSignal): Promise<Verbs[V]["gives"]> {
  const answer = await fetch(`/api/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(given),
    ...(signal ? { signal } : {}),
  });
  const found: unknown = await answer.json().catch(() => null);
  signal?.throwIfAborted(); // also while the answer came: half of one is none
  const told = (found as { error?: Told } | null)?.error;
  if (!answer.ok || (told && !("ok" in (found as object)) && !("state" in (found as object)))) {
    throw new Refusal(told ?? { kind: "connection", message: `The server answered ${answer.status}.` });
  }
  return found as Verbs[V]["gives"];
}

export const isOver = (s: Summary): boolean => ["done", "failed", "stopped"].includes(s.state);

/** Samples that a run has computed so far. */
export interface Chunk {
  run: string;
  first: number;
  until: number;
  t: Float64Array;
  q: Float32Array;
  qd: Float32Array;
}

interface Packed {
  run: string;
  first: number;
  until: number;
  arrays: { name: string; at: number; shape: number[]; type: string }[];
}

/** One binary message (studio/wire.py): the length of a header, the header, arrays at multiples of 8 bytes. */
export function chunkOf(data: ArrayBuffer): Chunk {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Packed;
  const found: Record<string, Float64Array | Float32Array> = {};
  for (const a of header.arrays) {
    const count = a.shape.reduce((x, y) => x * y, 1);
    const at = 4 + length + a.at;
    found[a.name] = a.type === "float64" ? new Float64Array(data, at, count) : new Float32Array(data, at, count);
  }
  return { run: header.run, first: header.first, until: header.until, t: found.t as Float64Array, q: found.q as Float32Array, qd: found.qd as Float32Array };
}

export interface Watched {
  chunk(chunk: Chunk): void;
  state(state: string, paused: boolean): void;
  over(summary: Summary): void;
}

/** Follow a run while it goes; what is returned ends that. A connection that breaks is made again. */
export function watch(run: string, told: Watched): () => void {
  let closed = false;
  let socket: WebSocket;
  let tries = 0;
  const connect = (): void => {
    socket = new WebSocket(`ws://${location.host}/watch`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ run }));
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (closed) return;
      if (typeof event.data !== "string") return told.chunk(chunkOf(event.data));
      const message = JSON.parse(event.data) as Progress;
      if (message.summary) {
        closed = true;
        socket.close();
        told.over(message.summary);
      } else if (message.state) told.state(message.state, message.paused ?? false);
    };
    socket.onclose = () => {
      if (!closed && tries++ < 5) setTimeout(connect, 300 * tries);
    };
  };
  connect();
  return () => {
    closed = true;
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
  };
}
