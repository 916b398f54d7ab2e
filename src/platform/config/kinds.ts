// The kinds of settings that there are, and what each takes for a value.

import { Expected, type Key, makeKey, Refused, type Row, type Wrong } from "./key.ts";

/** Longer ones are refused by servers and proxies anyway. */
const urlCharsMax = 2_000;

type TextRow = Omit<Row<string>, "fallback"> & { readonly fallback?: string };

export function text(row: TextRow): Key<string> {
  return makeKey({ fallback: "", ...row }, (value) => value);
}

export function secret(row: TextRow): Key<string> {
  return { ...text(row), secret: true };
}

/** A secret that travels in a header of HTTP. */
export function token(row: TextRow, charsMin = 1): Key<string> {
  const least = charsMin === 1 ? "" : `at least ${charsMin} `;
  const read = (value: string): string | Wrong => {
    const isRight = /^[\x21-\x7e]+$/.test(value) && value.length >= charsMin;
    return isRight ? value : new Expected(`${least}visible ASCII characters, without spaces`);
  };
  return { ...secret(row), read };
}

/** An address to build on. User and password have settings of their own, which are never shown. */
export function baseUrl(row: TextRow): Key<string> {
  return makeKey({ fallback: "", ...row }, (value) => {
    const url = URL.parse(value);
    const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
    const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
    const isRight = isHttp && isPlain && value.length <= urlCharsMax;
    return isRight ? value : new Expected("an http or https URL without user, password and query");
  });
}

export function flag(row: Row<boolean>): Key<boolean> {
  const words = new Map([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ]);
  return makeKey(row, (value) => words.get(value) ?? new Expected("true or false"));
}

export interface IntegerRow extends Row<number> {
  readonly min: number;
  readonly max: number;
  /** The document's words for a number below the least one. */
  readonly belowMin?: string;
  /** The document's words for a number above the largest one. */
  readonly aboveMax?: string;
}

export function integer({ min, max, belowMin, aboveMax, ...row }: IntegerRow): Key<number> {
  return makeKey(row, (value) => {
    const number = /^-?\d{1,30}$/.test(value) ? Number(value) : Number.NaN;
    const words = number < min ? belowMin : number > max ? aboveMax : undefined;
    if (words !== undefined) {
      return new Refused(`${words}, got ${BigInt(value)}`);
    }
    return number >= min && number <= max ? number : new Expected(`a whole number from ${min} to ${max}`);
  });
}

/** A number that may be left out, for which there is no number to stand. */
export function optional(key: Key<number>): Key<number | undefined> {
  return { ...key, fallback: undefined };
}

export interface DecimalRow extends Row<number> {
  readonly max: number;
}

/** Not below zero. */
export function decimal({ max, ...row }: DecimalRow): Key<number> {
  return makeKey(row, (value) => {
    const number = /^\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : Number.NaN;
    return number <= max ? number : new Expected(`a number from 0 to ${max}, such as 2.50`);
  });
}

export interface ListRow extends Omit<Row<readonly string[]>, "fallback"> {
  readonly fallback?: readonly string[];
  readonly item: RegExp;
  /** What the items have to be. */
  readonly expected: string;
}

export function list({ item, expected, ...row }: ListRow): Key<readonly string[]> {
  const read = (value: string): readonly string[] | Wrong => {
    const items = value.split(",").map((each) => each.trim());
    return items.every((each) => item.test(each)) ? items : new Expected(expected);
  };
  return { ...makeKey({ fallback: [], ...row }, read), separator: "," };
}

export interface ChoiceRow<Words extends readonly string[]> extends Row<Words[number]> {
  readonly words: Words;
}

export function choice<const Words extends readonly string[]>({ words, ...row }: ChoiceRow<Words>): Key<Words[number]> {
  return makeKey<Words[number]>(
    row,
    (value) => words.find((word) => word === value) ?? new Expected(`one of ${words.join(", ")}`),
  );
}
