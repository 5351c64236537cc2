/** Parts that are chosen in a form: the server fills them in, so that they can run where that is possible. */
import type { Signal } from "@preact/signals-core";
import { TEXTS } from "../texts";
import { ask, said } from "./client";
import type { Server } from "./form";
import { at, type Json, type Path, type Store } from "./store";

export class Choosing implements Server {
  constructor(
    private readonly store: Store,
    private readonly posture: Signal<readonly number[]>,
    private readonly message: Signal<string>,
  ) {}

  /** The document with that part; what else had to change is told. */
  async choose(kind: string, name: string | null, place: Path): Promise<void> {
    const before = this.store.document.value;
    try {
      const { document, also } = await ask("choose", { document: before, kind, name, place, q: [...this.posture.value] });
      if (this.store.document.value !== before) return await this.choose(kind, name, place); // it was changed meanwhile: what was typed stays
      this.message.value = also.length ? TEXTS.also(also.join(", ")) : "";
      this.store.replace(document);
    } catch (error) {
      this.message.value = said(error);
    }
  }

  /** The same, without a change of the document: what would stand there. */
  async firstOf(kind: string, name: string, place: Path): Promise<Json | undefined> {
    const { document } = await ask("choose", { document: this.store.document.value, kind, name, place, q: [...this.posture.value] });
    return at(document, place);
  }
}
