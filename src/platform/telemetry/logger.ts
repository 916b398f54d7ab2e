// The log: one JSON object per line on standard error, so that standard output is left to the command's answer. No line
// contains a secret that was passed to `hide`.

import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { createScrubber } from "./scrub.ts";
import { type LineStream, standardError } from "./standard-error.ts";

/** The minimum level of logged lines. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** A logger that removes secrets. */
export interface Logger extends Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "isLevelEnabled"> {
  /** Hides these secrets from all later lines, in all their forms: see `scrub.ts`. */
  hide(secrets: readonly string[]): void;
  /** Returns a text without secrets, for output other than the log. */
  scrub(text: string): string;
  /** Calls back with the number of dropped lines once lines are written again. */
  onDropped(tell: (lines: number) => void): void;
}

/** Returns a logger that writes to standard error by default. */
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
