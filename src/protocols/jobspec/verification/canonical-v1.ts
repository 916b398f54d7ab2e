// The bytes that a signature of version 1 covers, made from a JobSpec as it was received. ("Portal ↔ Runner Signing Contract",
// Canonicalization; its named authority is Go code, so text is escaped and sorted as Go's encoder does.)
// V1  Four members of the outermost object are left out, with any value.
// V2  Members that are null, or are or become empty objects, are left out. Nothing inside arrays changes.
// V3  After that, `constraints.min_success_rate` is left out if it is zero.
// V4  Names are in the order of their UTF-8 bytes; text is escaped for HTML; numbers are the shortest that read the same.

import { isObject, type Json, type JsonObject } from "./json.ts";

const excludedNames: readonly string[] = ["id", "created_at", "signature", "public_key"];

/** Returns the signed part of a spec as an object. The original stays unchanged. */
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

/** Returns the canonical text of version 1: the text that a signature has to cover. */
export function canonicalText(spec: JsonObject): string {
  return print(signablePart(spec));
}

/** Returns the same object when nothing has to be left out. */
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

/** Prints a value in the canonical form of version 1, for example `{"a":"\u003c"}`. */
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
  for (const name of namesInOrder(object)) {
    text += `${separator}${printText(name)}:${print(object.get(name) ?? null)}`;
    separator = ",";
  }
  return `${text}}`;
}

/** Sorts names by their bytes. Most programs write them in order already, so the order is checked first. */
function namesInOrder(object: JsonObject): Iterable<string> {
  const names = [...object.keys()];
  for (let at = 1; at < names.length; at++) {
    if (compareBytes(names[at - 1] ?? "", names[at] ?? "") > 0) {
      return names.sort(compareBytes);
    }
  }
  return names;
}

/** Matches text that JSON.stringify or Go escapes: the quote, the backslash, all below the space, and Go's own characters. */
const escaped = /["\\<>&\u2028\u2029]|[^ -\uffff]/;
const escapedByGoAlone = /[<>&\u2028\u2029]/;
const eachEscapedByGoAlone = new RegExp(escapedByGoAlone, "g");

function printText(text: string): string {
  if (!escaped.test(text)) {
    return `"${text}"`;
  }
  const quoted = JSON.stringify(text);
  // Quotes and line ends are common, the other characters are not.
  return escapedByGoAlone.test(quoted) ? quoted.replace(eachEscapedByGoAlone, escapeUnit) : quoted;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Units from here on are halves of surrogate pairs, or characters that sort before all characters beyond U+FFFF. */
const firstSurrogate = 0xd800;

/** Compares well-formed text by its UTF-8 bytes, which is the order of code points. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) {
      return left >= firstSurrogate && right >= firstSurrogate ? rankOf(left) - rankOf(right) : left - right;
    }
  }
  return a.length - b.length;
}

/** Ranks halves of surrogate pairs behind all other units. */
function rankOf(unit: number): number {
  return unit <= lastSurrogate ? unit + units : unit;
}

const lastSurrogate = 0xdfff;
const units = 0x10000;
