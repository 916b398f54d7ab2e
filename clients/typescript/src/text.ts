// The text of a run while it arrives, without the parts that later results make void.

import type { RunResult } from "../../../gen/runnel/v1/result_pb.js";

/** The valid text of a run. */
export class RunText {
  #pieces: { readonly sequence: bigint; readonly piece: string }[] = [];
  /** The result that ended the last whole message. */
  #messageEnd = 0n;

  /** Takes the next result. */
  add({ sequence, payload }: RunResult): void {
    if (payload.case === "messageDelta") {
      const { content = "", replacesText = false } = payload.value.chunk ?? {};
      if (replacesText) {
        this.#pieces = this.#pieces.filter((each) => each.sequence <= this.#messageEnd);
      }
      this.#pieces.push({ sequence, piece: content });
    } else if (payload.case === "messageCompleted") {
      this.#messageEnd = sequence;
    } else if (payload.case === "turnRestarted") {
      const { fromSequence } = payload.value;
      this.#pieces = this.#pieces.filter((each) => each.sequence < fromSequence);
      this.#messageEnd = this.#pieces.at(-1)?.sequence ?? 0n;
    }
  }

  toString(): string {
    return this.#pieces.map(({ piece }) => piece).join("");
  }
}
