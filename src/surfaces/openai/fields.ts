// Reads the fields of a request's JSON object one by one. A field that nothing reads is refused by its name: the caller learns what
// would have been ignored.

import { expectedNouns, type JsonKind, ValueReader } from "../../platform/base/json/member-reader.ts";
import { invalid, invalidBody, unsupported } from "./errors.ts";

/** The fields of one JSON object, at a path of the request. Its methods throw an ApiError for a field of another kind. */
export class Fields extends ValueReader<Fields> {
  /** Returns a whole number, from the lowest one on. */
  findCount(name: string, lowest = 1): number | undefined {
    const value = this.find(name);
    const isCount = Number.isInteger(value) && Number(value) >= lowest && Number(value) <= countMax;
    if (value !== undefined && !isCount) {
      throw invalid(this.at(name), `must be a whole number from ${lowest} on`);
    }
    return value as number | undefined;
  }

  /** Accepts fields whose values have no effect here. */
  ignore(...names: readonly string[]): void {
    for (const name of names) {
      this.get(name);
    }
  }

  /** Throws an ApiError that names the first field that was not read and is not null. */
  assertAllRead(): void {
    const name = this.unread.find((each) => this.get(each) !== null);
    if (name !== undefined) {
      throw unsupported(this.at(name));
    }
  }

  protected override open(value: unknown, path: string): Fields {
    return new Fields(value, path);
  }

  protected override wrong(path: string, expected: JsonKind): Error {
    return path === ""
      ? invalidBody("the request body must be a JSON object")
      : invalid(path, `must be ${expectedNouns[expected]}`);
  }

  protected override missing(path: string): Error {
    return invalid(path, "is missing");
  }
}

/** The largest int32. */
const countMax = 2_147_483_647;
