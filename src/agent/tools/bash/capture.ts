// Keeps the first bytes of what a command writes and reads on: a full pipe would stop the command, a closed one kill it.

import type { Readable } from "node:stream";
import { contentBytesMax } from "../cap.ts";

/** What was kept of one stream, as text: bytes that are no UTF-8 are replaced. */
export interface Captured {
  readonly text: string;
  readonly isCut: boolean;
}

export class Capture {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(stream: Readable) {
    stream.on("data", (piece: Buffer) => this.#add(piece));
    // The end of the command tells whatever there is to tell.
    stream.on("error", () => {});
  }

  /** Once the stream has ended. */
  read(): Captured {
    // Streaming, so that a character that was cut in half is left out rather than replaced.
    const text = new TextDecoder().decode(Buffer.concat(this.#pieces), { stream: this.#isCut });
    return { text, isCut: this.#isCut };
  }

  #add(piece: Buffer): void {
    const room = contentBytesMax - this.#bytes;
    this.#isCut ||= piece.length > room;
    if (room <= 0) {
      return;
    }
    const kept = piece.subarray(0, room);
    this.#bytes += kept.length;
    this.#pieces.push(kept);
  }
}
