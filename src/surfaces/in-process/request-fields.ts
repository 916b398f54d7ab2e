// Reads the fields of a request's JSON object one by one. A field that nothing reads is refused by its name: the caller learns what
// would have been ignored. A subclass words the errors of its API.

import { Fault } from "../../platform/base/fault.ts";
import { RawJson } from "../../platform/base/json/exact.ts";
import { expectedNouns, type JsonKind, ValueReader } from "../../platform/base/json/member-reader.ts";

/** The fields of one JSON object of `parseExact`, at a path of the request. */
export abstract class RequestFields<Self> extends ValueReader<Self> {
  /** The object as `parseExact` gave it. */
  readonly value: unknown;

  constructor(value: unknown, path = "") {
    super(value instanceof RawJson ? undefined : value, path);
    this.value = value;
  }

  /** Returns a whole number, from the lowest one on. */
  findCount(name: string, lowest = 1): number | undefined {
    const value = this.find(name);
    const isCount = Number.isInteger(value) && Number(value) >= lowest && Number(value) <= countMax;
    if (value !== undefined && !isCount) {
      throw this.invalid(this.at(name), `must be a whole number from ${lowest} on`);
    }
    return value as number | undefined;
  }

  /** Accepts fields whose values have no effect here. */
  ignore(...names: readonly string[]): void {
    for (const name of names) {
      this.get(name);
    }
  }

  /** Throws the error of an unsupported field for the first one that was not read and is not null. */
  assertAllRead(): void {
    const name = this.unread.find((each) => this.get(each) !== null);
    if (name !== undefined) {
      throw this.unsupported(this.at(name));
    }
  }

  /** Returns the error of a wrong value. It is called before the fields of a subclass are set, as `wrong` is. */
  protected abstract invalid(path: string, problem: string): Error;

  /** Returns the error of a field that the API of this service does not have. */
  protected abstract unsupported(path: string): Error;

  protected override wrong(path: string, expected: JsonKind): Error {
    return path === ""
      ? new Fault("INVALID_ARGUMENT", "the request body must be a JSON object")
      : this.invalid(path, `must be ${expectedNouns[expected]}`);
  }

  protected override missing(path: string): Error {
    return this.invalid(path, "is missing");
  }

  protected override kindOf(value: unknown): JsonKind {
    return value instanceof RawJson ? "number" : super.kindOf(value);
  }

  /** Half of a surrogate pair becomes U+FFFD: it cannot be stored. */
  protected override plain(value: unknown): unknown {
    if (value instanceof RawJson) {
      return Number(value.text);
    }
    return typeof value === "string" ? value.toWellFormed() : value;
  }
}

/** The largest int32. */
const countMax = 2_147_483_647;
