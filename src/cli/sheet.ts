// Prints an object for people: a title and its lines.

import type { DescEnum } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { enumShape } from "../platform/base/json/shape.ts";
import type { Paint } from "./output.ts";
import { shorten } from "./shorten.ts";
import { showTime } from "./table.ts";

/** Returns the name of a value, or its number when it is from a newer service. */
export function wordOf(desc: DescEnum, number: number): string {
  return enumShape(desc).texts.get(number) ?? String(number);
}

/** Returns the names of all values except "unspecified", for flags. */
export function wordsOf(desc: DescEnum): string[] {
  return [...enumShape(desc).texts].filter(([number]) => number !== 0).map(([, text]) => text);
}

/** Returns a time as tables show it. */
export function timeOf(time: Timestamp | undefined): string {
  return showTime(time && timestampDate(time));
}

/** A line of a sheet. A whole text is not shortened. */
export type SheetLine = readonly [title: string, text: string | undefined, length?: "whole"];

/** Prints a title and its lines; empty lines are left out. */
export function sheet(paint: Paint, head: string, lines: readonly SheetLine[]): string {
  const present = lines.filter(([, text]) => text !== undefined && text !== "");
  const show = ([title, text = "", length]: SheetLine): string =>
    `  ${paint("bold", title.padEnd(9))}  ${length === "whole" ? withoutControls(text) : shorten(text)}`;
  return [head, ...present.map(show)].join("\n");
}

/** Escapes control characters. A runner or a model wrote the text: it must not act on a terminal or hide a part of the request. */
function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
