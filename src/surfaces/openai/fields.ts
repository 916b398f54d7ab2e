// Reads the fields of a request's JSON object one by one. Null counts as missing. A field that nothing reads is refused by its
// name: the caller learns what would have been ignored.

import { invalid, invalidBody, unsupported } from "./errors.ts";

/** The fields of one JSON object, at a path of the request. */
export class Fields {
  readonly path: string;
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #read = new Set<string>();

  /** `path` is empty for the whole request. Throws an ApiError when the value is no object. */
  constructor(value: unknown, path = "") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw path === "" ? invalidBody("the request body must be a JSON object") : invalid(path, "must be an object");
    }
    this.path = path;
    this.#fields = new Map(Object.entries(value).filter(([, each]) => each !== null));
  }

  /** Returns the path of a field. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** Returns the value as it is. */
  raw(name: string): unknown {
    this.#read.add(name);
    return this.#fields.get(name);
  }

  text(name: string): string | undefined {
    return this.#typed(name, "a string", (value) => typeof value === "string");
  }

  requireText(name: string): string {
    return require(this.text(name), this.at(name));
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, "true or false", (value) => typeof value === "boolean");
  }

  number(name: string): number | undefined {
    return this.#typed(name, "a number", (value) => typeof value === "number");
  }

  /** Returns a whole number, from the lowest one on. */
  count(name: string, lowest = 1): number | undefined {
    return this.#typed(
      name,
      `a whole number from ${lowest} on`,
      (value) => Number.isInteger(value) && Number(value) >= lowest && Number(value) <= countMax,
    );
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#typed(name, "a list", (value) => Array.isArray(value));
  }

  child(name: string): Fields | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : new Fields(value, this.at(name));
  }

  /** Accepts fields whose values have no effect here. */
  ignore(...names: readonly string[]): void {
    for (const name of names) {
      this.#read.add(name);
    }
  }

  /** Throws an ApiError that names the first field that was not read. */
  assertAllRead(): void {
    for (const name of this.#fields.keys()) {
      if (!this.#read.has(name)) {
        throw unsupported(this.at(name));
      }
    }
  }

  #typed<T>(name: string, kind: string, isKind: (value: unknown) => boolean): T | undefined {
    const value = this.raw(name);
    if (value !== undefined && !isKind(value)) {
      throw invalid(this.at(name), `must be ${kind}`);
    }
    return value as T | undefined;
  }
}

/** The largest int32. */
const countMax = 2_147_483_647;

/** Returns the value. Throws an ApiError when it is missing. */
function require<T>(value: T | undefined, param: string): T {
  if (value === undefined) {
    throw invalid(param, "is missing");
  }
  return value;
}
