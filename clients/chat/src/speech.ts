// Reads an answer aloud by the sentence, while it arrives: by the piece it would be noise. This live region is beside the
// visible log, which is silent.

import { element, setText } from "./dom.ts";

/** A screen reader needs about this long for a sentence. */
const everyMs = 2_000;
/** More takes minutes to hear; the log itself has it all. */
const spokenMaxChars = 4_000;

export class Speech {
  readonly root: HTMLElement = element("div", { className: "unseen", ariaLive: "polite" });
  #said = 0;
  #saidAtMs = 0;

  /** Another answer begins; the visitor has heard the text so far. */
  begin(text: string): void {
    this.#said = text.length;
  }

  /** Says the sentences that were not said yet. The text is asked for only when it is time to speak. */
  update(readText: () => string, hasEnded: boolean): void {
    const nowMs = Date.now();
    if (!hasEnded && nowMs - this.#saidAtMs < everyMs) {
      return;
    }
    const text = readText();
    const end = hasEnded ? text.length : endOfSentence(text);
    if (end > this.#said) {
      setText(this.root, text.slice(Math.max(this.#said, end - spokenMaxChars), end));
      this.#said = end;
      this.#saidAtMs = nowMs;
    }
  }
}

function endOfSentence(text: string): number {
  return 1 + Math.max(...[". ", "! ", "? ", "。", "\n"].map((mark) => text.lastIndexOf(mark)));
}
