/** What a page asks first. It is asked while the rest of the script is still on its way: this is a file of its own, which is small. */
import type { Schema } from "./schema";
import { ask } from "./client";
import { ofTheLast, ofThisTab } from "./memory";
import type { Table } from "./store";
import type { Hello, Seen } from "./wire";

const FIRST = "scara-khang"; // what a new visitor sees (USUAL_ARM in studio/opening.py)

interface First {
  readonly hello: Promise<Hello>;
  readonly schema: Promise<Schema>;
  /** What the page begins with: of this tab, of the command, of the last tab, or a robot of the catalog. */
  readonly document: Promise<Table>;
  readonly seen: Promise<[Table, Seen]>;
}

function asked(): First {
  const last = ofTheLast();
  const [hello, schema] = [ask("hello", {}), ask("schema", {}) as Promise<Schema>];
  const fresh = last ? null : ask("new", { robot: FIRST });
  const document = hello.then(async ({ studio, first }) => ofThisTab(studio) ?? first ?? last ?? (await fresh!).document);
  const seen = document.then(async (document): Promise<[Table, Seen]> => [document, await ask("robot", { document })]);
  for (const answer of [hello, schema, fresh, document, seen]) answer?.catch(() => undefined); // told by whoever needs it
  return { hello, schema, document, seen };
}

export const first = asked();
let unread = true;

/** The robot of a document; of the first one it has been asked for already. */
export async function robotOf(document: Table, stop: AbortSignal): Promise<Seen> {
  if (unread && document === (await first.document)) {
    unread = false;
    const [, seen] = await first.seen;
    stop.throwIfAborted();
    return seen;
  }
  return ask("robot", { document }, stop);
}
