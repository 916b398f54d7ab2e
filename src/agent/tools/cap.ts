// Bounds what a successful call may say. A longer text keeps its first bytes, cut between two characters, and ends in a
// notice that gives its full size. Error texts are not capped here: tools keep them short.

/** 100 KiB: some 25 000 tokens, about the most that one answer may take of a model's context. Stands in the notice. */
export const contentBytesMax = 102_400;

/** Cuts a text that is too long. A text that was cut already comes back as it is. */
export function capContent(text: string): string {
  // No character takes more than three bytes per UTF-16 unit, so that short texts need no counting.
  if (text.length * 3 <= contentBytesMax) {
    return text;
  }
  const bytesTotal = Buffer.byteLength(text);
  return bytesTotal <= contentBytesMax || isCut(text) ? text : cutContent(text, bytesTotal);
}

/** Collects a text of any length in bounded memory: past the cap it only counts. */
export class CappedText {
  #kept = "";
  #bytesTotal = 0;

  /** A piece holds whole characters. */
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
  // Writes whole characters only and says how many UTF-16 units had room.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(contentBytesMax));
  return `${text.slice(0, read)}${noticeStart}${bytesTotal} bytes)`;
}

// A file may imitate the notice; all it wins is that its own text is shown to the length of a notice past the cap.
function isCut(text: string): boolean {
  const noticeAt = text.lastIndexOf(noticeStart);
  return (
    noticeAt !== -1 &&
    /^\d{1,16} bytes\)$/.test(text.slice(noticeAt + noticeStart.length)) &&
    Buffer.byteLength(text.slice(0, noticeAt)) <= contentBytesMax
  );
}
