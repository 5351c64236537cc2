/** Asking the server: verbs by name, runs on a socket, files of runs. */
import { signal } from "@preact/signals-core";
import { TEXTS } from "../texts";
import type { Progress, Summary, Told, Verbs } from "./wire";

export type { Summary, Told } from "./wire";

/** What the server refused, with the field beside which it is shown. */
export class Refusal extends Error {
  constructor(readonly told: Told) {
    super(told.message);
  }
}

/** There was no answer; the page says so at its top (`contact`), and looks for the studio until it is there again. */
export class Lost extends Error {}

/** Does the studio answer? `silent`: no. `locked`: another one is at this address, which does not know this page. */
export const contact = signal<"" | "silent" | "locked">("");
const LOOK_MS = 1200; // between looks for a studio that does not answer
let looking = 0;

function lose(how: "silent" | "locked"): Lost {
  contact.value = how;
  looking ||= window.setTimeout(() => void look(), LOOK_MS);
  return new Lost(how);
}

async function look(): Promise<void> {
  clearTimeout(looking);
  looking = 0;
  try {
    const { status } = await fetch("/theme.css", { method: "HEAD" });
    if (status === 403) lose("locked");
    else contact.value = "";
  } catch {
    lose("silent");
  }
}

/** A request of any kind; one without an answer is `Lost`. */
export async function reach(address: string, given: RequestInit = {}): Promise<Response> {
  const answer = await fetch(address, given).catch((error: unknown) => {
    throw error instanceof TypeError ? lose("silent") : error;
  });
  if (answer.status === 403) throw lose("locked");
  contact.value = "";
  return answer;
}

/** Where several questions may be on their way, only the last one counts: `const isLast = asks()` before it, `isLast()` behind its answer. */
export function onlyTheLast(): () => () => boolean {
  let turns = 0;
  return () => {
    const mine = ++turns;
    return () => mine === turns;
  };
}

/** A refusal in its own words; a connection that broke; a mistake of the page itself, which is also told to its console. */
export function said(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Lost) return ""; // the page says so at its top
  console.error(error);
  return TEXTS.mistake(error instanceof Error ? error.message : String(error));
}

export async function ask<V extends keyof Verbs>(verb: V, given: Verbs[V]["asks"], signal?: AbortSignal): Promise<Verbs[V]["gives"]> {
  const answer = await reach(`/api/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(given),
    ...(signal ? { signal } : {}),
  });
  const found: unknown = answer.headers.get("content-type") === "application/octet-stream" ? withBytes(await answer.arrayBuffer()) : await answer.json().catch(() => null);
  signal?.throwIfAborted(); // also while the answer came: half of one is none
  const told = (found as { error?: Told } | null)?.error;
  if (!answer.ok || (told && !("ok" in (found as object)) && !("state" in (found as object)))) {
    throw new Refusal(told ?? { kind: "connection", message: `The server answered ${answer.status}.` });
  }
  return found as Verbs[V]["gives"];
}

/** An answer with numbers behind its JSON (studio/wire.py); they are seen where they lie. */
export function withBytes(data: ArrayBuffer): unknown {
  const length = new DataView(data).getUint32(0, true);
  const found = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as { arrays?: unknown; drawn?: { arrays?: unknown } };
  for (const holder of [found, found.drawn]) {
    const place = (holder?.arrays as { $bytes?: [number, number] } | undefined)?.$bytes;
    if (place) holder!.arrays = new Uint8Array(data, 4 + length + place[0], place[1]);
  }
  return found;
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
  /** The studio knows no such run. */
  gone(): void;
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
      } else if (message.error) {
        closed = true;
        socket.close();
        told.gone();
      } else if (message.state) {
        tries = 0;
        told.state(message.state, message.paused ?? false);
      }
    };
    socket.onclose = () => {
      if (closed) return;
      if (tries++) void look(); // not only a hiccup
      setTimeout(again, 300);
    };
  };
  const again = (): void => {
    if (!closed && contact.peek()) setTimeout(again, 300);
    else if (!closed) connect();
  };
  connect();
  return () => {
    closed = true;
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
  };
}
