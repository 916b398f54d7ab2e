// A log that a test can read.

import { createLogger, type Logger, type LogLevel } from "../../src/platform/telemetry/logger.ts";

export interface TestLog {
  readonly logger: Logger;
  /** Returns everything that was written. */
  readonly text: () => string;
  /** Returns the same as objects; a line that is not JSON fails the test. */
  readonly lines: () => Record<string, unknown>[];
}

export function openTestLog(level: LogLevel = "debug"): TestLog {
  let text = "";
  const logger = createLogger(level, {
    write: (line) => {
      text += line;
    },
  });
  const lines = (): Record<string, unknown>[] =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  return { logger, text: () => text, lines };
}
