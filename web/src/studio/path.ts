/** The reference along its way: where the arm reaches it, and how well it can move there. */
import { signal } from "@preact/signals-core";
import { ask, Refusal } from "./client";
import type { Table } from "./store";
import type { Followed } from "./wire";

export class FollowedPath {
  /** Why the reference is not reached; empty where it is. */
  readonly reach = signal("");
  /** Is the path coloured by how well the arm can move along it? */
  readonly coloured = signal(false);
  /** What of a document says which path is followed. */
  text = "";

  constructor(private readonly show: (followed: Followed | null) => void) {}

  forget(): void {
    this.text = "";
  }

  async follow(document: Table): Promise<void> {
    const text = JSON.stringify([document["reference"], document["robot"], document["constants"], document["parameters"], document["q0"] ?? document["q0_deg"]]);
    if (text === this.text) return;
    this.text = text;
    this.reach.value = "";
    this.coloured.value = false;
    if (document["reference"] === undefined) return this.show(null);
    try {
      const followed = await ask("path", { document });
      if (text !== this.text) return;
      this.show(followed);
      this.reach.value = followed.reason ?? "";
      this.coloured.value = followed.manipulability !== undefined;
    } catch (error) {
      if (error instanceof Refusal) this.show(null);
    }
  }
}
