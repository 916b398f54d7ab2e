// Keeps the first bytes of a command's output and discards the rest. A full pipe would block the command, a closed one kill it.

import type { Readable } from "node:stream";
import { contentBytesMax } from "../cap.ts";

/** The kept part of one stream as text. Invalid UTF-8 is replaced. */
export interface Captured {
  readonly text: string;
  readonly isCut: boolean;
}

/** Reads one stream to its end. */
export class Capture {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(stream: Readable) {
    stream.on("data", (piece: Buffer) => this.#add(piece));
    // The end of the command reports any problem.
    stream.on("error", () => {});
  }

  /** Returns the kept output. Call it after the stream has ended. */
  read(): Captured {
    // Decodes in streaming mode when cut, so that half a character at the end is dropped, not replaced.
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
