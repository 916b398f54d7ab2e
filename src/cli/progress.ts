// Progress of slow work: one line that changes on a terminal, lines elsewhere, nothing for programs.

import { shorten } from "./shorten.ts";
import { forPeople } from "./terminal.ts";

/** The progress of slow work. */
export interface Progress extends Disposable {
  /** Replaces the text that was shown before. */
  say(text: string): void;
  /** Leaves a clean line behind. */
  close(): void;
}

/** How progress is shown. */
export type ProgressStyle = "line" | "lines" | "none";

/** Moves to the line's beginning and erases the line. */
const eraseLine = "\r\u001b[K";

/** Creates the progress on `stream`. */
export function createProgress(stream: NodeJS.WriteStream, style: ProgressStyle): Progress {
  let isShown = false;
  const close = (): void => {
    if (isShown) {
      isShown = false;
      stream.write(eraseLine);
    }
  };
  const say = (text: string): void => {
    if (style === "lines") {
      stream.write(forPeople(`${text}\n`, stream));
    } else if (style === "line") {
      isShown = true;
      // A line that wraps could not be overwritten.
      stream.write(`${eraseLine}${shorten(text).slice(0, (stream.columns ?? 80) - 1)}`);
    }
  };
  return { say, close, [Symbol.dispose]: close };
}
