// Where log lines go. One JSON object a line on standard error, so that standard output stays with the command's answer.
// No line leaves with a secret in it that the logger was told of.

import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { createScrubber } from "./scrub.ts";
import { type LineStream, standardError } from "./standard-error.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface Logger extends Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "isLevelEnabled"> {
  /** Texts that no line may hold from now on, in whatever form: see `scrub.ts`. */
  hide(secrets: readonly string[]): void;
  /** A text that leaves otherwise, without what lines may not hold. */
  scrub(text: string): string;
  /** Calls back with how many lines found no place, once others do. */
  onDropped(tell: (lines: number) => void): void;
}

export function createLogger(level: LogLevel, destination: LineStream = standardError()): Logger {
  const scrubber = createScrubber();
  const stream: DestinationStream = { write: (line) => destination.write(scrubber.scrubLine(line)) };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return Object.assign(logger, {
    hide: scrubber.hide,
    scrub: scrubber.scrubText,
    onDropped: (tell: (lines: number) => void) => destination.onDropped?.(tell),
  });
}
