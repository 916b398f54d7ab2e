// The canonical form, written from the contract's text alone as a front end would do it. It shares no code with the service, so
// the tests can compare the two. It cannot see repeated names: JSON.parse keeps the last one, as the contract says.

export type Json = null | boolean | number | string | Json[] | Members;
export type Members = Map<string, Json>;

const excluded = ["id", "created_at", "signature", "public_key"];

/** Reads objects as maps, so that no name has a meaning in the language. JSON.parse keeps -0, and `__proto__` as a member. */
export function parse(text: string): Members {
  const parsed = toModel(JSON.parse(text));
  if (!(parsed instanceof Map)) {
    throw new Error("a spec is an object");
  }
  return parsed;
}

function toModel(value: unknown): Json {
  if (Array.isArray(value)) {
    return value.map(toModel);
  }
  return typeof value === "object" && value !== null
    ? new Map(Object.entries(value).map(([name, each]) => [name, toModel(each)]))
    : (value as Json);
}

export function canonicalText(spec: Members): string {
  const kept = prune(new Map([...spec].filter(([name]) => !excluded.includes(name))));
  const constraints = kept.get("constraints");
  if (constraints instanceof Map && constraints.get("min_success_rate") === 0) {
    constraints.delete("min_success_rate");
  }
  return write(kept);
}

/** Without nulls and empty objects. Arrays are unchanged. */
function prune(object: Members): Members {
  const inner = [...object].map(([name, value]) => [name, value instanceof Map ? prune(value) : value] as const);
  return new Map(inner.filter(([, value]) => value !== null && !(value instanceof Map && value.size === 0)));
}

/** JSON.stringify would write -0 as 0. */
export function write(value: Json): string {
  if (typeof value === "string") {
    return writeText(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map(write).join(",")}]`;
  }
  if (value instanceof Map) {
    const sorted = [...value].sort(([a], [b]) => compareBytes(a, b));
    return `{${sorted.map(([name, each]) => `${writeText(name)}:${write(each)}`).join(",")}}`;
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

function writeText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const encoder = new TextEncoder();

function compareBytes(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const at = left.findIndex((byte, index) => byte !== right[index]);
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}
