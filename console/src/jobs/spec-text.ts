// What a JobSpec says, read for people. The service reads its bytes again, so nothing that is decided depends on this.

/** A document that can be submitted: a spec, and the object around it if there is one. */
export interface SpecText {
  readonly spec: object;
  /** No signature covers it. Undefined when the spec came by itself. */
  readonly wrapper: object | undefined;
}

/** Reads a document. Returns undefined for text that is not a JSON object. */
export function readSpec(text: string): SpecText | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(read)) {
    return undefined;
  }
  const inner = valueAt(read, "jobspec");
  return isObject(inner) ? { spec: inner, wrapper: read } : { spec: read, wrapper: undefined };
}

/** Returns the value at a path such as `constraints.regions[0]`, or undefined. */
export function valueAt(from: object, path: string): unknown {
  let found: unknown = from;
  for (const [name] of path.matchAll(/[^.[\]]+/g)) {
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  }
  return found;
}

/** Returns the text of the value at a path, with commas between the items of a list. Empty for an object or a missing value. */
export function textAt(from: object, path: string): string {
  const value = valueAt(from, path);
  return (Array.isArray(value) ? value : [value])
    .filter((each) => typeof each === "string" || typeof each === "number" || typeof each === "boolean")
    .join(", ");
}

/** Returns the number of items of the list at a path. */
export function countAt(from: object, path: string): number {
  const value = valueAt(from, path);
  return Array.isArray(value) ? value.length : 0;
}

/** The members that codes without a member mean. */
const members: Readonly<Record<string, string>> = {
  weak_public_key: "public_key",
  trust_violation: "public_key",
  signature_mismatch: "signature",
  timestamp_invalid: "metadata.timestamp",
  replay_detected: "metadata.nonce",
  expired: "exp",
  wrong_audience: "aud",
};

/** Returns the member that a refusal is about, such as `metadata.nonce`; empty when it is about the whole document. */
export function memberOf(spec: object, code: string, message: string): string {
  const [kind = "", name = ""] = code.split(":");
  if (kind === "missing_field" || kind === "invalid_field" || kind === "invalid_encoding") {
    return name === "timestamp" || name === "nonce" ? `metadata.${name}` : name;
  }
  // The message begins with the path of the member, or is a sentence.
  const [path = ""] = kind === "validation_error" ? (/^[\w.[\]]+/.exec(message) ?? []) : [members[kind]];
  return /[.[]/.test(path) || kind in members || Object.hasOwn(spec, path) ? path : "";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
