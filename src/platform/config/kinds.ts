// The kinds of settings, and the values that each accepts.

import { Expected, type Key, makeKey, Refused, type Row, type Wrong } from "./key.ts";

/** The maximum length of a URL. Servers and proxies refuse longer ones anyway. */
export const urlCharsMax = 2_000;

type TextRow = Omit<Row<string>, "fallback"> & { readonly fallback?: string };

/** Any text. */
export function text(row: TextRow): Key<string> {
  return makeKey({ fallback: "", ...row }, (value) => value);
}

/** A text that is never shown. */
export function secret(row: TextRow): Key<string> {
  return { ...text(row), secret: true };
}

/** A secret that is sent in an HTTP header. */
export function token(row: TextRow, charsMin = 1): Key<string> {
  const least = charsMin === 1 ? "" : `at least ${charsMin} `;
  const read = (value: string): string | Wrong => {
    const isRight = /^[\x21-\x7e]+$/.test(value) && value.length >= charsMin;
    return isRight ? value : new Expected(`${least}visible ASCII characters, without spaces`);
  };
  return { ...secret(row), read };
}

/** The URL of a Postgres. Secret, because it usually contains a password. */
export function databaseUrl(row: TextRow): Key<string> {
  const read = (value: string): string | Wrong => {
    if (keyValuePairs.test(value)) {
      return new Expected("a URL such as postgres://user:password@host:5432/database?sslmode=require");
    }
    return severalHosts.test(value)
      ? new Expected(
          "one host: name an address that leads to the primary, such as HAProxy, a virtual IP, or your provider's endpoint for writes",
        )
      : value;
  };
  return { ...secret(row), read };
}

/** The other form of libpq, such as `host=db dbname=runnel`. */
const keyValuePairs = /^\s*[a-z_]+\s*=/;
/** A comma in the hosts of a URL, or in its parameter `host`. */
const severalHosts = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?[^/?@]*,[^/?@]*(?:[/?]|$)|[?&]host=[^&]*(?:,|%2C)/i;

/** A base URL. User and password have their own settings, which are never shown. */
export function baseUrl(row: TextRow): Key<string> {
  return makeKey({ fallback: "", ...row }, (value) => {
    const url = URL.parse(value);
    const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
    const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
    const isRight = isHttp && isPlain && value.length <= urlCharsMax;
    return isRight ? value : new Expected("an http or https URL without user, password and query");
  });
}

/** The path of a prefix: empty, or such as `/runnel`, without a slash at its end. */
export function publicPath(row: TextRow): Key<string> {
  return makeKey({ fallback: "", ...row }, (value) =>
    /^(?:\/[A-Za-z0-9._~-]+)*\/?$/.test(value) ? value.replace(/\/$/, "") : new Expected("a path such as /runnel"),
  );
}

/** A boolean: `true`, `1`, `false` or `0`. */
export function flag(row: Row<boolean>): Key<boolean> {
  const words = new Map([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ]);
  return makeKey(row, (value) => words.get(value) ?? new Expected("true or false"));
}

/** The row of an integer. */
export interface IntegerRow extends Row<number> {
  readonly min: number;
  readonly max: number;
  /** The document's wording for a number below the minimum. */
  readonly belowMin?: string;
  /** The document's wording for a number above the maximum. */
  readonly aboveMax?: string;
}

/** A whole number within bounds. */
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

/** A number that may be unset when no number expresses that. */
export function optional(key: Key<number>): Key<number | undefined> {
  return { ...key, fallback: undefined };
}

/** The row of a decimal. */
export interface DecimalRow extends Row<number> {
  readonly max: number;
}

/** A number from 0 to `max`, such as 2.50. */
export function decimal({ max, ...row }: DecimalRow): Key<number> {
  return makeKey(row, (value) => {
    const number = /^\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : Number.NaN;
    return number <= max ? number : new Expected(`a number from 0 to ${max}, such as 2.50`);
  });
}

/** The row of a list. */
export interface ListRow extends Omit<Row<readonly string[]>, "fallback"> {
  readonly fallback?: readonly string[];
  readonly item: RegExp;
  /** The valid form of the items, for messages. */
  readonly expected: string;
}

/** A list, separated by commas. */
export function list({ item, expected, ...row }: ListRow): Key<readonly string[]> {
  const read = (value: string): readonly string[] | Wrong => {
    const items = value.split(",").map((each) => each.trim());
    return items.every((each) => item.test(each)) ? items : new Expected(expected);
  };
  return { ...makeKey({ fallback: [], ...row }, read), separator: "," };
}

/** The row of a choice. */
export interface ChoiceRow<Words extends readonly string[]> extends Row<Words[number]> {
  readonly words: Words;
}

/** One of several words. */
export function choice<const Words extends readonly string[]>({ words, ...row }: ChoiceRow<Words>): Key<Words[number]> {
  return makeKey<Words[number]>(
    row,
    (value) => words.find((word) => word === value) ?? new Expected(`one of ${words.join(", ")}`),
  );
}
