// Reads amounts and arguments of transactions. An integer that JSON numbers cannot hold must be text; no number is ever
// rounded.

import { FieldError } from "./fields.ts";
import { type Json, kindOf } from "./json.ts";

/**
 * Reads wei as decimal digits, such as `"1000"`. Returns undefined when the value is missing or empty.
 * @throws FieldError when the value is not a whole number of wei up to 2^256 - 1.
 */
export function readWei(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  const digits = typeof value === "string" ? value.trim() : digitsOf(value, "value");
  if (!/^\d{1,78}$/.test(digits) || BigInt(digits) > weiMax) {
    throw new FieldError('value must be wei in decimal digits, at most 2^256 - 1: use a decimal string such as "1000"');
  }
  return BigInt(digits).toString();
}

/**
 * Reads a list of arguments; a missing list is empty.
 * @throws FieldError when it is not a list, or holds an inexact number at any depth.
 */
export function readArguments(args: Json | undefined): readonly Json[] {
  if (args === undefined) {
    return [];
  }
  if (!Array.isArray(args)) {
    throw new FieldError(`args must be a list, not ${kindOf(args)}`);
  }
  assertExact(args, "args");
  return args;
}

/** The maximum of an EVM word. */
const weiMax = 2n ** 256n - 1n;

/** The maximum length of a path in an error. Deep values have long paths; the beginning is enough to find the value. */
const pathCharsMax = 100;

function digitsOf(value: Json, field: string): string {
  if (typeof value === "object" && value !== null && !JSON.isRawJSON(value)) {
    throw new FieldError(`${field} must be a decimal string, not ${kindOf(value)}`);
  }
  if (typeof value === "boolean") {
    throw new FieldError(`${field} must be a decimal string, not a boolean`);
  }
  if (!Number.isSafeInteger(value)) {
    throw new FieldError(`${field}: use a decimal string`);
  }
  return String(value);
}

function assertExact(outermost: readonly Json[], field: string): void {
  const pending: { readonly value: Json; readonly path: string }[] = [{ value: outermost, path: field }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value === "number" || JSON.isRawJSON(value)) {
      digitsOf(value, path);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, entry] of Object.entries(value)) {
        const step = Array.isArray(value) ? `[${key}]` : `.${key}`;
        pending.push({ value: entry, path: `${path}${step}`.slice(0, pathCharsMax) });
      }
    }
  }
}
