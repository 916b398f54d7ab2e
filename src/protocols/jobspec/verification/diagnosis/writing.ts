// Prints a spec as signers write it: the canonical form of version 1 with any of its rules broken.

import { joinPrinted } from "../../../../platform/base/json/text.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";

/** How a spec is written. Each rule of the canonical form can be broken by itself. */
export interface Writing {
  readonly keepsId: boolean;
  readonly keepsCreatedAt: boolean;
  readonly emptiesSignature: boolean;
  readonly keepsNulls: boolean;
  readonly keepsEmptyObjects: boolean;
  readonly dropsEmptyTexts: boolean;
  readonly rate: "dropped last" | "dropped first" | "kept";
  readonly order: "bytes" | "UTF-16" | "as received";
  readonly escapesHtml: boolean;
  readonly escapesLineSeparators: boolean;
  readonly showsNegativeZero: boolean;
  readonly indent: number;
  readonly end: string;
}

const canonical: Writing = {
  keepsId: false,
  keepsCreatedAt: false,
  emptiesSignature: false,
  keepsNulls: false,
  keepsEmptyObjects: false,
  dropsEmptyTexts: false,
  rate: "dropped last",
  order: "bytes",
  escapesHtml: true,
  escapesLineSeparators: true,
  showsNegativeZero: true,
  indent: 0,
  end: "",
};

/** Prints the canonical form with `changes`. */
export function printAs(object: JsonObject, ...changes: readonly Partial<Writing>[]): string {
  const writing: Writing = Object.assign({}, canonical, ...changes);
  return print(selectMembers(object, writing), writing, 0) + writing.end;
}

/** Returns the members that the canonical form prints, with `change`. */
export function selectMembers(object: JsonObject, change: Partial<Writing>): JsonObject {
  const writing = { ...canonical, ...change };
  const all = new Map(object);
  if (!writing.keepsId) {
    all.delete("id");
  }
  if (!writing.keepsCreatedAt) {
    all.delete("created_at");
  }
  for (const name of ["signature", "public_key"]) {
    if (writing.emptiesSignature) {
      all.set(name, "");
    } else {
      all.delete(name);
    }
  }
  const { rate } = writing;
  const selected = prune(rate === "dropped first" ? withoutZeroRate(all) : all, writing);
  return rate === "dropped last" ? withoutZeroRate(selected) : selected;
}

function withoutZeroRate(object: JsonObject): JsonObject {
  const constraints = object.get("constraints");
  if (!isObject(constraints) || constraints.get("min_success_rate") !== 0) {
    return object;
  }
  const rest = new Map(constraints);
  rest.delete("min_success_rate");
  return new Map(object).set("constraints", rest);
}

function prune(object: JsonObject, writing: Writing): JsonObject {
  const { keepsNulls, keepsEmptyObjects, dropsEmptyTexts } = writing;
  const pruned: JsonObject = new Map();
  for (const [name, value] of object) {
    const kept = isObject(value) ? prune(value, writing) : value;
    const isDropped =
      (kept === null && !keepsNulls) ||
      (isObject(kept) && kept.size === 0 && !keepsEmptyObjects) ||
      (kept === "" && dropsEmptyTexts);
    if (!isDropped) {
      pruned.set(name, kept);
    }
  }
  return pruned;
}

function print(value: Json, writing: Writing, depth: number): string {
  if (typeof value === "string") {
    return printText(value, writing);
  }
  if (typeof value === "number") {
    return Object.is(value, -0) && writing.showsNegativeZero ? "-0" : String(value);
  }
  if (Array.isArray(value)) {
    return enclose(
      "[]",
      value.map((item) => print(item, writing, depth + 1)),
      writing,
      depth,
    );
  }
  if (isObject(value)) {
    const colon = writing.indent > 0 ? ": " : ":";
    const members = inOrder(value, writing.order).map(
      ([name, each]) => `${printText(name, writing)}${colon}${print(each, writing, depth + 1)}`,
    );
    return enclose("{}", members, writing, depth);
  }
  return String(value);
}

function enclose(brackets: string, items: readonly string[], { indent }: Writing, depth: number): string {
  const [open, close] = brackets;
  if (indent === 0 || items.length === 0) {
    return `${open}${joinPrinted(items)}${close}`;
  }
  const space = (levels: number): string => `\n${" ".repeat(indent * levels)}`;
  const lineStart = space(depth + 1);
  return `${open}${joinPrinted(items.map((item) => `${lineStart}${item}`))}${space(depth)}${close}`;
}

/** Returns the levels of indentation of all lines together, if the value is indented. */
export function countIndents(value: Json, depth = 0): number {
  const items = Array.isArray(value) ? value : isObject(value) ? [...value.values()] : [];
  const lines = items.map((item) => depth + 1 + countIndents(item, depth + 1));
  return lines.reduce((sum, levels) => sum + levels, items.length === 0 ? 0 : depth);
}

function inOrder(object: JsonObject, order: Writing["order"]): [string, Json][] {
  const members = [...object];
  if (order === "as received") {
    return members;
  }
  return order === "UTF-16"
    ? members.sort(([a], [b]) => (a < b ? -1 : 1))
    : members.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function printText(text: string, { escapesHtml, escapesLineSeparators }: Writing): string {
  const quoted = JSON.stringify(text);
  const html = escapesHtml ? quoted.replace(/[<>&]/g, escapeUnit) : quoted;
  return escapesLineSeparators ? html.replace(/[\u2028\u2029]/g, escapeUnit) : html;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
