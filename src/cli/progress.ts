// Progress of work that takes a while: one line that changes on a terminal, lines elsewhere, nothing for machines.

import { shorten } from "./show.ts";
import { forPeople } from "./terminal.ts";

export interface Progress extends Disposable {
  /** Replaces what was said before. */
  say(text: string): void;
  /** Leaves a clean line behind. */
  close(): void;
}

export type ProgressStyle = "line" | "lines" | "none";

/** To the line's beginning, and everything on it away. */
const eraseLine = "\r\u001b[K";

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
      // A line that wraps could not be taken back.
      stream.write(`${eraseLine}${shorten(text).slice(0, (stream.columns ?? 80) - 1)}`);
    }
  };
  return { say, close, [Symbol.dispose]: close };
}
