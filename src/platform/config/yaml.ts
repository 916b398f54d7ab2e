// Reads the settings in a YAML text, as texts by key. Pure. Messages never show values, since any value may be a secret in the
// wrong place.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLError,
} from "yaml";
import { findNearest } from "../base/nearest.ts";
import type { Key, KeyTable } from "./keys.ts";

/** The text of one setting and its line. */
export interface YamlSetting {
  readonly text: string;
  readonly line: number;
}

/** A problem and its place in the file. */
export interface YamlProblem {
  readonly line: number;
  readonly column: number;
  /** Undefined when the text is not valid YAML; empty for the file as a whole. */
  readonly key: string | undefined;
  readonly text: string;
}

/** The settings and problems of a file. */
export interface YamlSettings {
  readonly settings: ReadonlyMap<string, YamlSetting>;
  readonly problems: readonly YamlProblem[];
}

/** Reads a YAML text. Problems are returned, never thrown. */
export function readYaml(text: string, keys: KeyTable): YamlSettings {
  return new YamlReader(text, keys).read();
}

/** The names that a file may contain. */
interface Names {
  readonly paths: readonly string[];
  readonly sections: readonly string[];
}

function namesOf(keys: KeyTable): Names {
  const paths = Object.values(keys).map(({ path }) => path);
  return { paths, sections: [...new Set(paths.flatMap(sectionsOf))] };
}

/** Returns `server` and `server.tls` for `server.tls.cert_file`. */
function sectionsOf(path: string): string[] {
  const words = path.split(".");
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join("."));
}

/** Explains the parser's error codes to the author of the file. The parser's own messages may quote values. */
const meanings: Readonly<Record<string, string>> = {
  BAD_ALIAS: "a value that begins with * needs quotes",
  BAD_DIRECTIVE: "a line that begins with % needs quotes",
  BAD_INDENT: "bad indentation, or a bracket that is not closed",
  BLOCK_AS_IMPLICIT_KEY: "two keys on one line, or a value that holds a colon and needs quotes",
  DUPLICATE_KEY: "duplicate key: keep one of them",
  MISSING_CHAR: "a colon, quote, bracket or space is missing",
  MULTILINE_IMPLICIT_KEY: "a colon is missing after the key",
  MULTIPLE_DOCS: "only one document fits into the file: remove the line with ---",
  NON_STRING_KEY: "a key has to be a string",
  RESOURCE_EXHAUSTION: "this is nested too deeply",
  TAB_AS_INDENT: "a tab indents: use spaces",
  TAG_RESOLVE_FAILED: "a value that begins with ! needs quotes",
};

class YamlReader {
  readonly #keys: ReadonlyMap<string, Key<unknown>>;
  readonly #names: Names;
  readonly #document: Document.Parsed;
  readonly #lines = new LineCounter();
  readonly #settings = new Map<string, YamlSetting>();
  readonly #problems: YamlProblem[] = [];

  constructor(text: string, keys: KeyTable) {
    this.#keys = new Map(Object.values(keys).map((key) => [key.path, key]));
    this.#names = namesOf(keys);
    const options = { lineCounter: this.#lines, prettyErrors: false, stringKeys: true, resolveKnownTags: false };
    this.#document = parseDocument(text, options);
  }

  read(): YamlSettings {
    const { errors, warnings, contents } = this.#document;
    for (const error of [...errors, ...warnings]) {
      this.#reportError(error);
    }
    // A partly understood file sets nothing.
    if (this.#problems.length === 0 && contents !== null) {
      this.#readSection("", contents);
    }
    return { settings: this.#settings, problems: this.#problems };
  }

  #readSection(section: string, node: Node): void {
    const content = this.#resolve(node);
    if (isScalar(content) && content.value === null) {
      return;
    }
    if (!isMap<Scalar, Node | null>(content)) {
      const below = this.#names.paths.find((path) => path.startsWith(section === "" ? "" : `${section}.`)) ?? "";
      const what = section === "" ? "a file of settings has" : `${section} has`;
      this.#report(startOf(node), section, `${what} keys below it, such as ${below}, and no value`);
      return;
    }
    for (const { key, value } of content.items) {
      this.#readPair(section, key, value);
    }
  }

  #readPair(section: string, key: Scalar, value: Node | null): void {
    const name = String(key.value);
    const path = section === "" ? name : `${section}.${name}`;
    const known = name.includes(".") ? undefined : this.#keys.get(path);
    if (known !== undefined) {
      this.#readValue(known, key, value);
    } else if (this.#names.sections.includes(path) && !name.includes(".")) {
      if (value !== null) {
        this.#readSection(path, value);
      }
    } else {
      const what = `unknown key ${isName(path) ? path : "that is no name"}`;
      this.#report(startOf(key), isName(path) ? path : section, what + this.#suggest(path, name.includes(".")));
    }
  }

  #readValue(known: Key<unknown>, key: Scalar, node: Node | null): void {
    const content = node === null ? null : this.#resolve(node);
    if (node !== null && content === undefined) {
      this.#report(startOf(node), undefined, meanings.BAD_ALIAS ?? "");
      return;
    }
    const { line } = this.#lines.linePos(startOf(key));
    const items = isSeq<Node>(content) ? content.items.map((item) => this.#readScalar(item)) : undefined;
    const text = items === undefined ? this.#readScalar(content) : joinItems(items, known.separator);
    if (text === undefined) {
      const what = known.separator === undefined ? "takes one value" : "takes a list of values";
      this.#report(startOf(key), known.path, `${known.path} ${what}`);
    } else if (text !== "") {
      this.#settings.set(known.path, { text, line });
    }
  }

  /** Returns a scalar as written, so that `0123` stays unchanged where a text is meant. Null gives an empty text. */
  #readScalar(node: unknown): string | undefined {
    const content = node === null ? null : this.#resolve(node as Node);
    if (content === null || (isScalar(content) && content.value === null)) {
      return "";
    }
    if (!isScalar(content)) {
      return undefined;
    }
    return typeof content.value === "string" ? content.value : (content.source ?? String(content.value));
  }

  #resolve(node: Node): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #suggest(path: string, isDotted: boolean): string {
    if (isDotted && this.#keys.has(path)) {
      return `: a file has ${path.split(".").length} lines for it, one below the other, each indented more`;
    }
    const meant = findMeant(path, this.#names);
    return meant === undefined ? ": `runnel config explain` lists all keys" : `: did you mean ${meant}?`;
  }

  #reportError({ code, pos: [offset] }: YAMLError): void {
    this.#report(offset, undefined, meanings[code] ?? "this is no YAML: a value with special characters needs quotes");
  }

  #report(offset: number, key: string | undefined, text: string): void {
    const { line, col } = this.#lines.linePos(offset);
    // One missing bracket causes a thousand errors; repeated errors of a line are dropped.
    if (!this.#problems.some((problem) => problem.line === line && problem.text === text)) {
      this.#problems.push({ line, column: col, key, text });
    }
  }
}

function joinItems(items: readonly (string | undefined)[], separator: string | undefined): string | undefined {
  return separator === undefined || items.includes(undefined) ? undefined : items.join(separator);
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** Returns the most similar key or section, otherwise a key with the same last word. Returns undefined when neither exists. */
export function findMeantKey(path: string, keys: KeyTable): string | undefined {
  return findMeant(path, namesOf(keys));
}

function findMeant(path: string, { paths, sections }: Names): string | undefined {
  const near = findNearest(path, [...paths, ...sections]);
  if (near !== undefined) {
    return near;
  }
  const lastWord = path.split(".").at(-1);
  return paths.find((each) => each.split(".").at(-1) === lastWord);
}

const keyCharsMax = 80;

/** Returns true when a key may be shown: other texts only look like a key. */
function isName(path: string): boolean {
  return /^[\w.-]+$/.test(path) && path.length <= keyCharsMax;
}
