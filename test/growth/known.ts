// Functions whose growth is known, to test the meter with.

import type { GrowthCase } from "./growth.ts";

function known(input: string, prepare: GrowthCase["prepare"]): GrowthCase {
  return { reader: "linear", input, prepare };
}

function slow(input: string, prepare: GrowthCase["prepare"]): GrowthCase {
  return { reader: "quadratic", input, prepare };
}

/** Linear and quadratic functions of every kind of work. */
export const growthCases: readonly GrowthCase[] = [
  known("one loop", (size) => () => countTo(size)),
  slow("a loop in a loop", (size) => () => {
    for (let at = 0; at < size; at += 10) {
      countTo(at);
    }
  }),
  known("a search that continues", (size) => () => findAll("a".repeat(size), false)),
  slow("a search that begins again", (size) => () => findAll("a".repeat(size), true)),
  known("a text made of pieces", (size) => () => joinPieces(size, false)),
  slow("a text made of pieces that is looked at after each", (size) => () => joinPieces(size, true)),
  known("a list that grows", (size) => () => collect(size, (list, at) => list.push(at) && list)),
  slow("a list that is copied for each item", (size) => () => collect(size, (list, at) => [...list, at])),
  slow(
    "a list that is searched for each item",
    (size) => () => collect(size, (list, at) => (list.includes(at) ? list : list.push(at) && list)),
  ),
  slow("a long list whose first item is taken", (size) => () => {
    const list = Array.from({ length: 10 * size }, (_, at) => at);
    for (let at = 0; at < size; at += 1) {
      list.shift();
    }
  }),
  slow("a match that reads all of a text for each start", (size) => () => {
    const text = "a".repeat(size);
    for (let at = 0; at < size; at += 10) {
      /b/.test(text);
    }
  }),
  known("a match that continues", (size) => () => "ab".repeat(size).match(/b/g)),
];

function countTo(size: number): number {
  let sum = 0;
  for (let at = 0; at < size; at += 1) {
    sum += at;
  }
  return sum;
}

function findAll(text: string, isFromStart: boolean): number {
  let found = 0;
  for (let at = text.indexOf("a"); at !== -1; at = isFromStart ? findAfter(text, at) : text.indexOf("a", at + 1)) {
    found += 1;
  }
  return found;
}

/** Finds the next letter by counting from the start of the text. */
function findAfter(text: string, at: number): number {
  const rest = text.split("").slice(at + 1);
  return rest.length === 0 ? -1 : at + 1;
}

function joinPieces(size: number, isLookedAt: boolean): string {
  let text = "";
  for (let at = 0; at < size; at += 1) {
    text += "piece";
    if (isLookedAt && text.endsWith("x")) {
      return "";
    }
  }
  return text;
}

function collect(size: number, add: (list: number[], at: number) => number[] | 0): number[] {
  let list: number[] = [];
  for (let at = 0; at < size; at += 1) {
    list = add(list, at) || list;
  }
  return list;
}
