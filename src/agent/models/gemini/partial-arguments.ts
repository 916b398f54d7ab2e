// Assembles the arguments of one call from pieces that name their place, such as `{"jsonPath":"$.a.b[0]","stringValue":"x"}`.
//
// P1  A path creates the objects and lists on its way. Keys are data: none of them reaches a prototype.
// P2  A list grows by one item at a time, and a path is at most `stepsMax` deep. So memory follows the bytes of the response.
// P3  Texts of one path are joined. Numbers keep their digits as they are written.
// P4  A piece without a value closes a text, or makes an empty object; with `[]` at the end of its path, an empty list.

import type { Fields } from "./frames.ts";

/** The maximum number of keys and indexes in a path. No tool has arguments that are nested this deep. */
const stepsMax = 64;

type Step = string | number;

type Value =
  | { readonly kind: "object"; readonly members: Map<string, Value> }
  | { readonly kind: "list"; readonly items: Value[] }
  | { readonly kind: "text"; text: string }
  | { readonly kind: "json"; readonly json: string };

/** Collects the pieces of one call. */
export class PartialArguments {
  readonly #root: Value = emptyObject();

  /**
   * Adds a piece and returns the text that it adds; undefined when its place is invalid. `writtenNumber` returns its number as it is
   * written.
   */
  add(piece: Fields, writtenNumber: () => string | undefined): string | undefined {
    const place = parsePath(piece.jsonPath);
    if (place === undefined) {
      return undefined;
    }
    const { steps, isList } = place;
    const value = readValue(piece, writtenNumber);
    if (value !== undefined) {
      return this.#put(steps, value) ? textOf(value) : undefined;
    }
    const addsNothing = steps.length === 0 || piece.willContinue === true;
    return addsNothing || this.#touch(steps, isList ? emptyList() : emptyObject()) ? "" : undefined;
  }

  /** Returns the arguments so far as JSON. */
  print(): string {
    return print(this.#root);
  }

  /** Sets the value of a place, or appends its text. Returns false when there is no such place. */
  #put(steps: readonly Step[], value: Value): boolean {
    const [parent, last] = [this.#reach(steps), steps.at(-1)];
    if (parent === undefined || last === undefined) {
      return false;
    }
    const known = childOf(parent, last);
    if (value.kind !== "text" || known?.kind !== "text") {
      return setChild(parent, last, value);
    }
    known.text += value.text;
    return true;
  }

  /** Sets the value of a place that has none. */
  #touch(steps: readonly Step[], value: Value): boolean {
    const [parent, last] = [this.#reach(steps), steps.at(-1)];
    if (parent === undefined || last === undefined) {
      return false;
    }
    return childOf(parent, last) !== undefined || setChild(parent, last, value);
  }

  /** Returns the object or list that the last step of a path is in. */
  #reach(steps: readonly Step[]): Value | undefined {
    let value = this.#root;
    for (const [at, step] of steps.slice(0, -1).entries()) {
      const child = childOf(value, step) ?? (typeof steps[at + 1] === "number" ? emptyList() : emptyObject());
      if (!setChild(value, step, child)) {
        return undefined;
      }
      value = child;
    }
    return value;
  }
}

function emptyObject(): Value {
  return { kind: "object", members: new Map() };
}

function emptyList(): Value {
  return { kind: "list", items: [] };
}

/** A key after a dot, an index in brackets, or a quoted key in brackets. */
const stepPattern = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Parses a path such as `$.a.b[0]`. Returns undefined when it is invalid or too deep. */
function parsePath(path: unknown): { readonly steps: readonly Step[]; readonly isList: boolean } | undefined {
  if (typeof path !== "string") {
    return undefined;
  }
  const isList = path.endsWith("[]");
  const bare = isList ? path.slice(0, -2) : path;
  const text = bare.startsWith("$") ? bare.slice(1) : `.${bare}`;
  const steps: Step[] = [];
  for (let at = 0; at < text.length; at = stepPattern.lastIndex) {
    stepPattern.lastIndex = at;
    const match = stepPattern.exec(text);
    if (match === null || steps.length === stepsMax) {
      return undefined;
    }
    const [, key, index, ...quoted] = match;
    steps.push(index === undefined ? (key ?? unquote(quoted)) : Number(index));
  }
  return { steps, isList };
}

function unquote(quoted: readonly (string | undefined)[]): string {
  return quoted.join("").replace(/\\(.)/g, "$1");
}

function readValue(piece: Fields, writtenNumber: () => string | undefined): Value | undefined {
  const { stringValue, numberValue, boolValue } = piece;
  if (typeof stringValue === "string") {
    return { kind: "text", text: stringValue };
  }
  if (typeof numberValue === "number") {
    return { kind: "json", json: writtenNumber() ?? String(numberValue) };
  }
  if (typeof boolValue === "boolean") {
    return { kind: "json", json: String(boolValue) };
  }
  return "nullValue" in piece ? { kind: "json", json: "null" } : undefined;
}

function childOf(parent: Value, step: Step): Value | undefined {
  switch (parent.kind) {
    case "object":
      return typeof step === "string" ? parent.members.get(step) : undefined;
    case "list":
      return parent.items[indexOf(step)];
    case "text":
    case "json":
      return undefined;
    default:
      return parent satisfies never;
  }
}

/** Sets a child. Returns false when the parent has no such place. */
function setChild(parent: Value, step: Step, child: Value): boolean {
  if (parent.kind === "object" && typeof step === "string") {
    parent.members.set(step, child);
    return true;
  }
  const index = indexOf(step);
  if (parent.kind !== "list" || !(index >= 0 && index <= parent.items.length)) {
    return false;
  }
  parent.items[index] = child;
  return true;
}

/** Returns the index of a step, also of one after a dot: `$.list.0`. Returns -1 for a key. */
function indexOf(step: Step): number {
  return typeof step === "number" ? step : /^\d+$/.test(step) ? Number(step) : -1;
}

function textOf(value: Value): string {
  return value.kind === "text" ? value.text : print(value);
}

function print(value: Value): string {
  switch (value.kind) {
    case "object": {
      const members = Array.from(value.members, ([key, each]) => `${JSON.stringify(key)}:${print(each)}`);
      return `{${members.join(",")}}`;
    }
    case "list":
      return `[${value.items.map(print).join(",")}]`;
    case "text":
      return JSON.stringify(value.text);
    case "json":
      return value.json;
    default:
      return value satisfies never;
  }
}
