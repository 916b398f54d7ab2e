// JSON values as a model wrote them. A number that JavaScript cannot represent keeps its original text, so no amount changes.
// JSON.stringify prints all of them as they arrived.

/** A JSON value whose inexact numbers are raw text. */
export type Json = null | boolean | number | string | RawJson | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Converts the text of a JSON number to a number when it is exact, otherwise to raw JSON. */
export function numberOf(text: string): number | RawJson {
  const value = Number(text);
  return isExact(text, value) ? value : JSON.rawJSON(text);
}

/** Returns true for a JSON object: not null, not a list and not a raw number. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Describes the kind of a value for an error: `a list`, `a string`, `null`. */
export function kindOf(value: Json | undefined): string {
  if (value === null || value === undefined) {
    return "null";
  }
  if (typeof value !== "object") {
    return `a ${typeof value}`;
  }
  if (JSON.isRawJSON(value)) {
    return "a number";
  }
  return Array.isArray(value) ? "a list" : "an object";
}

/** Limits within which a float64 always preserves decimal digits. The powers of ten stay far from those where it loses some. */
const exactDigitsMax = 15;
const exactPowerMax = 300;

function isExact(text: string, value: number): boolean {
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(text)) {
    return true;
  }
  const digits = text
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "");
  if (digits === "") {
    return true;
  }
  const isNear = Math.abs(value) < 10 ** exactPowerMax && Math.abs(value) > 10 ** -exactPowerMax;
  return digits.length <= exactDigitsMax && isNear && !(Number.isInteger(value) && !Number.isSafeInteger(value));
}
