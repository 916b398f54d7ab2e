// JSON values as a model wrote them. A number that this language cannot hold stays the text that it was, so that no
// amount changes on its way; JSON.stringify prints all of them as they came.

export type Json = null | boolean | number | string | RawJson | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Of the text of a JSON number. */
export function numberOf(text: string): number | RawJson {
  const value = Number(text);
  return isExact(text, value) ? value : JSON.rawJSON(text);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

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

/** Decimal digits that a float64 always gives back; with powers of ten far from where it loses some. */
const exactDigitsMax = 15;
const exactPowerMax = 300;

function isExact(text: string, value: number): boolean {
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(text)) {
    return true;
  }
  const digits = text
    .replace(/[eE].*$/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "");
  if (digits === "") {
    return true;
  }
  const isNear = Math.abs(value) < 10 ** exactPowerMax && Math.abs(value) > 10 ** -exactPowerMax;
  return digits.length <= exactDigitsMax && isNear && !(Number.isInteger(value) && !Number.isSafeInteger(value));
}
