// The bytes that a signature of version 1 is over, made of a JobSpec as it was received. ("Portal ↔ Runner Signing Contract",
// Canonicalization; its named authority is Go code, so text is escaped and sorted as Go's encoder does.)
// V1  Four members of the outermost object are left out, whatever they hold.
// V2  Members that are null, or are or become empty objects, are left out; nothing inside arrays is touched.
// V3  After that `constraints.min_success_rate` is left out if it is zero.
// V4  Names are in the order of their UTF-8 bytes; text is escaped for HTML; numbers are the shortest that read the same.

import { isObject, type Json, type JsonObject } from "./json.ts";

const excludedNames: readonly string[] = ["id", "created_at", "signature", "public_key"];

/** What is signed, as an object. The original is left as it is. */
export function signablePart(spec: JsonObject): JsonObject {
  const rest = new Map(spec);
  for (const name of excludedNames) {
    rest.delete(name);
  }
  const signable = prune(rest);
  const constraints = signable.get("constraints");
  if (isObject(constraints) && constraints.get("min_success_rate") === 0) {
    const others = new Map(constraints);
    others.delete("min_success_rate");
    return new Map(signable).set("constraints", others);
  }
  return signable;
}

export function canonicalText(spec: JsonObject): string {
  return print(signablePart(spec));
}

/** The same object where there is nothing to leave out. */
function prune(object: JsonObject): JsonObject {
  let pruned: JsonObject | undefined;
  for (const [name, value] of object) {
    const kept = isObject(value) ? prune(value) : value;
    if (kept === null || (isObject(kept) && kept.size === 0)) {
      pruned ??= new Map(object);
      pruned.delete(name);
    } else if (kept !== value) {
      pruned ??= new Map(object);
      pruned.set(name, kept);
    }
  }
  return pruned ?? object;
}

export function print(value: Json): string {
  if (typeof value === "string") {
    return printText(value);
  }
  if (typeof value === "number") {
    return Object.is(value, -0) ? "-0" : String(value);
  }
  if (value === null || typeof value === "boolean") {
    return String(value);
  }
  return Array.isArray(value) ? printArray(value) : printObject(value);
}

function printArray(items: readonly Json[]): string {
  let text = "[";
  let separator = "";
  for (const item of items) {
    text += separator + print(item);
    separator = ",";
  }
  return `${text}]`;
}

function printObject(object: JsonObject): string {
  let text = "{";
  let separator = "";
  for (const [name, value] of inOrder(object)) {
    text += `${separator}${printText(name)}:${print(value)}`;
    separator = ",";
  }
  return `${text}}`;
}

/** Most objects are written by programs that have them in order already. */
function inOrder(object: JsonObject): Iterable<[string, Json]> {
  let before: string | undefined;
  for (const name of object.keys()) {
    if (before !== undefined && compareBytes(before, name) > 0) {
      return [...object].sort(([a], [b]) => compareBytes(a, b));
    }
    before = name;
  }
  return object;
}

/** Escaped by JSON.stringify, or by Go alone. */
const escaped = /["\\<>&\u2028\u2029\p{Cc}]/u;
const escapedByGoAlone = /[<>&\u2028\u2029]/g;

function printText(text: string): string {
  return escaped.test(text) ? JSON.stringify(text).replace(escapedByGoAlone, escapeUnit) : `"${text}"`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Well-formed text by its UTF-8 bytes, which is by code points: surrogates stand for those above all others. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) {
      return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
    }
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
