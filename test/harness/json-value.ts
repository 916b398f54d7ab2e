// Random JSON for tests that parse it again with JSON.parse. No name contains a backslash: once V8 has read such a name, it
// confuses other names that have escapes with it (nodejs/node#63785).

import { type Arbitrary, type JsonValue, jsonValue } from "fast-check";

export function anyJson(constraints: Parameters<typeof jsonValue>[0] = {}): Arbitrary<JsonValue> {
  return jsonValue(constraints).filter((value) => !hasBackslashName(value));
}

function hasBackslashName(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([name, each]) => name.includes("\\") || hasBackslashName(each))
  );
}
