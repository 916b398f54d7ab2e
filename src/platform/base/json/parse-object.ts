// Parses JSON to plain values. Invalid texts give undefined.

import { findJson } from "./text.ts";

/** Returns true for a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the JSON value; undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the JSON object; undefined for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns the JSON object; undefined for any other text, and for one with more levels or values than a request may have. */
export function parseBoundedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  return findJson(text) === undefined ? undefined : parseObject(text);
}
