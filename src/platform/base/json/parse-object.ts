// Parses JSON objects.

import { JsonTextError, parseJsonText } from "./text.ts";

/** Returns the JSON object; undefined for any other text. */
export function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the JSON object; undefined for any other text, and for one with more levels or values than a request may have. */
export function parseBoundedObject(text: string): object | undefined {
  try {
    parseJsonText(text);
    return parseObject(text);
  } catch (error) {
    if (error instanceof JsonTextError) {
      return undefined;
    }
    throw error;
  }
}
