// Limits the content of a successful call. A longer text keeps its first bytes, cut between two characters, and ends with a
// notice of its full size. Error texts are not capped here: tools keep them short.

/** The maximum content: 100 KiB, some 25 000 tokens, which is about the most that one answer should take of a context. */
export const contentBytesMax = 102_400;

/** Cuts a text that is too long. Returns a text that was already cut unchanged. */
export function capContent(text: string): string {
  // A UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 <= contentBytesMax) {
    return text;
  }
  const bytesTotal = Buffer.byteLength(text);
  return bytesTotal <= contentBytesMax || isCut(text) ? text : cutContent(text, bytesTotal);
}

/** Collects a text of any length in bounded memory. Beyond the maximum it only counts. */
export class CappedText {
  #kept = "";
  #bytesTotal = 0;

  /** Adds a piece, which must contain whole characters. */
  add(piece: string): void {
    if (this.#bytesTotal <= contentBytesMax) {
      this.#kept += piece;
    }
    this.#bytesTotal += Buffer.byteLength(piece);
  }

  toString(): string {
    return this.#bytesTotal <= contentBytesMax ? this.#kept : cutContent(this.#kept, this.#bytesTotal);
  }
}

const noticeStart = `\n... (truncated: showing ${contentBytesMax} of `;

function cutContent(text: string, bytesTotal: number): string {
  // `encodeInto` writes only whole characters and returns how many UTF-16 units fit.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(contentBytesMax));
  return `${text.slice(0, read)}${noticeStart}${bytesTotal} bytes)`;
}

// A file may imitate the notice. It gains only that its text may exceed the maximum by the length of a notice.
function isCut(text: string): boolean {
  const noticeAt = text.lastIndexOf(noticeStart);
  return (
    noticeAt !== -1 &&
    /^\d{1,16} bytes\)$/.test(text.slice(noticeAt + noticeStart.length)) &&
    Buffer.byteLength(text.slice(0, noticeAt)) <= contentBytesMax
  );
}
