// Where log lines go. One JSON object a line on standard error, so that standard output stays with the command's answer.
// No line leaves with a secret in it that the logger was told of.

import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { createScrubber } from "./scrub.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface Logger extends Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "isLevelEnabled"> {
  /** Texts that no line may hold from now on, in whatever form: see `scrub.ts`. */
  hide(secrets: readonly string[]): void;
  /** A text that leaves otherwise, without what lines may not hold. */
  scrub(text: string): string;
}

export function createLogger(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  const scrubber = createScrubber();
  const stream: DestinationStream = { write: (line) => destination.write(scrubber.scrubLine(line)) };
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return Object.assign(logger, { hide: scrubber.hide, scrub: scrubber.scrubText });
}

/** Lines that a full disk does not take wait for room, no more of them than this. */
const waitingBytesMax = 1_048_576;

/** Whoever cannot take a line is no reason to end. */
function standardError(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: waitingBytesMax });
  destination.on("error", () => {});
  return destination;
}
