// Where log lines go. One JSON object a line on standard error, so that standard output stays with the command's answer.

import { type Logger, pino } from "pino";

export type { Logger };
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}
