// Typed readers of JSON that somebody sent: small ones, out of which the shape of a JobSpec is put together as a table.
// F1  A member that is null is not there. Where a text may be left out, an empty one counts as left out.
// F2  A fault names the path, and says what to write. What was sent is shown only where it is a choice or a number.
// F3  Members that are not asked for are not looked at.

import { isObject, type Json, type JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** Throws a `SpecFault` that names the path. */
export type Reader<T> = (value: Json | undefined, path: string) => T;

export interface TextLimits {
  /** Characters. */
  readonly max?: number;
  readonly pattern?: RegExp;
  /** The pattern in words. */
  readonly hint?: string;
}

export function text({ max, pattern, hint }: TextLimits = {}): Reader<string> {
  return (value, path) => {
    if (typeof value !== "string") {
      throw invalid(path, `must be text, not ${kindOf(value)}`);
    }
    if (max !== undefined && value.length > max) {
      throw invalid(path, `has ${value.length} characters: ${max} are the most`);
    }
    // Databases cannot hold it in text.
    if (value.includes("\0")) {
      throw invalid(path, "must not hold the character U+0000");
    }
    if (pattern !== undefined && !pattern.test(value)) {
      throw invalid(path, `must be ${hint}`);
    }
    return value;
  };
}

export function choice(words: readonly string[]): Reader<string> {
  return (value, path) => {
    if (typeof value !== "string" || !words.includes(value)) {
      throw invalid(path, `must be one of ${words.join(", ")}, not ${show(value)}`);
    }
    return value;
  };
}

export interface NumberLimits {
  readonly min: number;
  readonly max?: number;
}

export function number({ min, max = Number.MAX_VALUE }: NumberLimits): Reader<number> {
  return (value, path) => {
    if (typeof value !== "number" || value < min || value > max) {
      throw invalid(path, `must be a number${rangeOf(min, max)}, not ${show(value)}`);
    }
    return value;
  };
}

export function integer({ min, max = Number.MAX_SAFE_INTEGER }: NumberLimits): Reader<number> {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
      throw invalid(path, `must be an integer${rangeOf(min, max)}, not ${show(value)}`);
    }
    return value;
  };
}

export const flag: Reader<boolean> = (value, path) => {
  if (typeof value !== "boolean") {
    throw invalid(path, `must be true or false, not ${show(value)}`);
  }
  return value;
};

/** As it is; an empty one when it is not there. */
export const object: Reader<JsonObject> = (value, path) => {
  if (isAbsent(value)) {
    return new Map();
  }
  if (!isObject(value)) {
    throw invalid(path, `must be an object, not ${kindOf(value)}`);
  }
  return value;
};

/** More than any real spec has of anything, and so few that what is made of them stays small. */
export const itemsMax = 1_000;

/** None when it is not there. */
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

/** Names that the sender chose, with what each of them holds. */
export function entries<T>(of: Reader<T>, name: Reader<string>): Reader<ReadonlyMap<string, T>> {
  return (value, path) => {
    const members = object(value, path);
    checkCount(members.size, path);
    return new Map([...members].map(([key, each]) => [name(key, `a name in ${path}`), of(each, pathOf(path, key))]));
  };
}

type Shape = Readonly<Record<string, Reader<unknown>>>;
export type Read<S extends Shape> = { readonly [Name in keyof S]: ReturnType<S[Name]> };

/** Members by their names here: `minRegions` is `min_regions` there. One that is not there has none of them. */
export function record<S extends Shape>(shape: S): Reader<Read<S>> {
  const readers = Object.entries(shape).map(([name, read]) => ({ name, member: memberNameOf(name), read }));
  return (value, path) => {
    const members = object(value, path);
    const read = readers.map((each) => [each.name, each.read(members.get(each.member), pathOf(path, each.member))]);
    return Object.fromEntries(read) as Read<S>;
  };
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, path) => (isAbsent(value) ? undefined : read(value, path));
}

export function optionalText(limits?: TextLimits): Reader<string | undefined> {
  const read = optional(text(limits));
  return (value, path) => (value === "" ? undefined : read(value, path));
}

export function orElse<T>(read: Reader<T | undefined>, otherwise: T): Reader<T> {
  return (value, path) => read(value, path) ?? otherwise;
}

export function invalid(path: string, problem: string): SpecFault {
  return new SpecFault("validation_error", `${path} ${problem}`);
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function checkCount(count: number, path: string): void {
  if (count > itemsMax) {
    throw invalid(path, `has ${count} entries: ${itemsMax} are the most`);
  }
}

function memberNameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Of a name that the sender chose, so much as a reader needs. */
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
