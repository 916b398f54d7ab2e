// Small typed readers of JSON from a sender. A table of them describes the shape of a JobSpec.
// It is not a `MemberReader`: a table describes a spec as a whole, and the types follow from the table.
// F1  A null member counts as missing. Where a text is optional, an empty one counts as missing too.
// F2  A fault names the path and says what to write. It quotes the sent value only if that is a choice or a number.
// F3  Members without a reader are ignored.

import { isObject, type Json, type JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** Reads one value; `path` is its place in the document. Throws a `SpecFault` that names the path. */
export type Reader<T> = (value: Json | undefined, path: string) => T;

/** Limits of a text. */
export interface TextLimits {
  /** In characters. */
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Describes the pattern in words. */
  readonly hint?: string;
}

/** Reads a text. */
export function text({ max, pattern, hint }: TextLimits = {}): Reader<string> {
  return (value, path) => {
    if (typeof value !== "string") {
      throw invalid(path, `must be text, not ${kindOf(value)}`);
    }
    if (max !== undefined && value.length > max) {
      throw invalid(path, `has ${value.length} characters: maximum ${max}`);
    }
    // Postgres cannot store it in text.
    if (value.includes("\0")) {
      throw invalid(path, "must not contain the character U+0000");
    }
    if (pattern !== undefined && !pattern.test(value)) {
      throw invalid(path, `must be ${hint}`);
    }
    return value;
  };
}

/** Reads one of `words`. */
export function choice(words: readonly string[]): Reader<string> {
  return (value, path) => {
    if (typeof value !== "string" || !words.includes(value)) {
      throw invalid(path, `must be one of ${words.join(", ")}, not ${show(value)}`);
    }
    return value;
  };
}

/** Limits of a number, both included. */
export interface NumberLimits {
  readonly min: number;
  readonly max?: number;
}

/** Reads a number within the limits. */
export function number({ min, max = Number.MAX_VALUE }: NumberLimits): Reader<number> {
  return (value, path) => {
    if (typeof value !== "number" || value < min || value > max) {
      throw invalid(path, `must be a number${rangeOf(min, max)}, not ${show(value)}`);
    }
    return value;
  };
}

/** Reads an integer within the limits. */
export function integer({ min, max = Number.MAX_SAFE_INTEGER }: NumberLimits): Reader<number> {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
      throw invalid(path, `must be an integer${rangeOf(min, max)}, not ${show(value)}`);
    }
    return value;
  };
}

/** Reads true or false. */
export const flag: Reader<boolean> = (value, path) => {
  if (typeof value !== "boolean") {
    throw invalid(path, `must be true or false, not ${show(value)}`);
  }
  return value;
};

/** Reads an object unchanged; a missing one reads as an empty object. */
export const object: Reader<JsonObject> = (value, path) => {
  if (isAbsent(value)) {
    return new Map();
  }
  if (!isObject(value)) {
    throw invalid(path, `must be an object, not ${kindOf(value)}`);
  }
  return value;
};

/** The maximum number of items in a list or object: more than any real spec has, and few enough to stay small. */
export const itemsMax = 1_000;

/** Reads a list; a missing one reads as an empty list. */
export function list<T>(of: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (isAbsent(value)) {
      return [];
    }
    if (!Array.isArray(value)) {
      throw invalid(path, `must be a list, not ${kindOf(value)}`);
    }
    checkCount(value.length, path);
    return value.map((item, index) => of(item, `${path}[${index}]`));
  };
}

/** Reads an object whose names the sender chose: `name` checks each name, `of` reads each value. */
export function entries<T>(of: Reader<T>, name: Reader<string>): Reader<ReadonlyMap<string, T>> {
  return (value, path) => {
    const members = object(value, path);
    checkCount(members.size, path);
    return new Map([...members].map(([key, each]) => [name(key, `a name in ${path}`), of(each, pathOf(path, key))]));
  };
}

type Shape = Readonly<Record<string, Reader<unknown>>>;
/** The type that a record of readers reads. */
export type Read<S extends Shape> = { readonly [Name in keyof S]: ReturnType<S[Name]> };

/** Reads members by their camelCase names: `minRegions` is `min_regions` in the document. A missing object has no members. */
export function record<S extends Shape>(shape: S): Reader<Read<S>> {
  const readers = Object.entries(shape).map(([name, read]) => ({ name, member: memberNameOf(name), read }));
  return (value, path) => {
    const members = object(value, path);
    const read = readers.map((each) => [each.name, each.read(members.get(each.member), pathOf(path, each.member))]);
    return Object.fromEntries(read) as Read<S>;
  };
}

/** Reads a value, or undefined when it is missing. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, path) => (isAbsent(value) ? undefined : read(value, path));
}

/** Reads a text, or undefined when it is missing or empty. */
export function optionalText(limits?: TextLimits): Reader<string | undefined> {
  const read = optional(text(limits));
  return (value, path) => (value === "" ? undefined : read(value, path));
}

/** Reads a value, or returns `otherwise` when `read` gives undefined. */
export function orElse<T>(read: Reader<T | undefined>, otherwise: T): Reader<T> {
  return (value, path) => read(value, path) ?? otherwise;
}

/** Returns the fault `validation_error`; its message is the path and the problem, for example "runs must be an integer". */
export function invalid(path: string, problem: string): SpecFault {
  return new SpecFault("validation_error", `${path} ${problem}`);
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function checkCount(count: number, path: string): void {
  if (count > itemsMax) {
    throw invalid(path, `has ${count} entries: maximum ${itemsMax}`);
  }
}

function memberNameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How many characters of a name or value from the sender a message shows. */
const shownMax = 40;
const plainName = /^[A-Za-z0-9_-]{1,40}$/;

function pathOf(path: string, name: string): string {
  if (!plainName.test(name)) {
    return `${path}[${cut(JSON.stringify(name))}]`;
  }
  return path === "" ? name : `${path}.${name}`;
}

function rangeOf(min: number, max: number): string {
  if (min <= Number.MIN_SAFE_INTEGER) {
    return "";
  }
  return max >= Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`;
}

function show(value: Json | undefined): string {
  return typeof value === "object" || value === undefined ? kindOf(value) : cut(JSON.stringify(value));
}

function cut(shown: string): string {
  return shown.length > shownMax ? `${shown.slice(0, shownMax).toWellFormed()}…` : shown;
}

function kindOf(value: Json | undefined): string {
  if (isAbsent(value)) {
    return "nothing";
  }
  if (isObject(value)) {
    return "an object";
  }
  return Array.isArray(value) ? "a list" : typeof value === "string" ? "text" : `a ${typeof value}`;
}
