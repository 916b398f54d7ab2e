// Amounts and arguments of transactions. An integer that JSON's numbers cannot hold has to come as text, and nothing is
// ever rounded.

import { FieldError } from "./fields.ts";
import { type Json, kindOf } from "./json.ts";

/** The wei of a transaction in decimal digits; undefined when none are given. */
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

/** A list without numbers that are not exact, however deep; none is the empty one. */
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

/** An EVM word. */
const weiMax = 2n ** 256n - 1n;

/** Deep ones make long paths; the beginning is enough to find it. */
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
