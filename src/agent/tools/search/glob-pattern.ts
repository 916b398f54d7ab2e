// Translates glob patterns to regular expressions for an engine without backtracking: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` and
// `**`. `**` as a whole segment matches any number of directories, including zero. A leading dot is an ordinary character, and
// a backslash escapes the next one. An unclosed bracket or brace means itself, as in a shell.

import { RE2JS } from "re2js";

/** A compiled pattern. It matches a text only as a whole. */
export interface Glob {
  matches(text: string): boolean;
}

/** Compiles a pattern. Throws the engine's syntax error, for example for a range that runs backwards. */
export function compileGlob(pattern: string): Glob {
  const expression = RE2JS.compile(`^(?:${new Translation(pattern).run()})$`, RE2JS.DOTALL);
  return { matches: (text) => expression.test(text) };
}

/** Splits a pattern into its literal directory and the rest: `src/a/*.ts` gives `src/a/` and `*.ts`. */
export function splitGlob(pattern: string): { readonly directory: string; readonly rest: string } {
  const magicAt = pattern.search(/[*?[{\\]/);
  const plain = magicAt === -1 ? pattern : pattern.slice(0, magicAt);
  const restAt = plain.lastIndexOf("/") + 1;
  return { directory: pattern.slice(0, restAt), rest: pattern.slice(restAt).replaceAll(/\/{2,}/g, "/") };
}

/** Returns the maximum number of directories in a matching path. Infinity for patterns with `**`. */
export function globDepth(pattern: string): number {
  return pattern.includes("**") ? Number.POSITIVE_INFINITY : pattern.split("/").length - 1;
}

/** Returns whether a segment may be `..`. No name is `..`, so such a pattern could only match outside the directory. */
export function leadsUp(pattern: string): boolean {
  return /(?:^|[/{,])\.\.(?:$|[/},])/.test(pattern);
}

class Translation {
  readonly #pattern: string;
  readonly #closings: ReadonlySet<number>;
  readonly #openings: ReadonlySet<number>;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    const pairs = pairBraces(pattern);
    this.#openings = new Set(pairs.keys());
    this.#closings = new Set(pairs.values());
  }

  run(): string {
    let expression = "";
    while (this.#at < this.#pattern.length) {
      expression += this.#next();
    }
    return expression;
  }

  #next(): string {
    const at = this.#at;
    const character = this.#pattern.charAt(at);
    this.#at += 1;
    switch (character) {
      case "*":
        return this.#star(at);
      case "?":
        return "[^/]";
      case "[":
        return this.#class() ?? "\\[";
      case "{":
        return this.#openings.has(at) ? this.#open() : "\\{";
      case ",":
        return this.#depth > 0 ? "|" : ",";
      case "}":
        return this.#closings.has(at) ? this.#close() : "\\}";
      case "\\":
        return this.#escaped();
      default:
        return this.#literal(at);
    }
  }

  #star(at: number): string {
    while (this.#pattern.charAt(this.#at) === "*") {
      this.#at += 1;
    }
    const wholeSegment = this.#isBorder(at - 1, "/{,") && this.#isBorder(this.#at, "/},");
    if (this.#at - at !== 2 || !wholeSegment) {
      return "[^/]*";
    }
    if (this.#pattern.charAt(this.#at) !== "/") {
      return ".*";
    }
    this.#at += 1;
    return "(?:[^/]+/)*";
  }

  /** Returns whether a segment may begin or end here. The characters count only inside braces; elsewhere only `/` does. */
  #isBorder(at: number, characters: string): boolean {
    const character = this.#pattern[at];
    return character === undefined || (this.#depth > 0 ? characters : "/").includes(character);
  }

  /** Translates a character class. Returns undefined when it is not closed. */
  #class(): string | undefined {
    const found = readClass(this.#pattern, this.#at);
    if (found === null) {
      return undefined;
    }
    const [all, negation, members = ""] = found;
    this.#at += all.length;
    const escaped = members.replaceAll(/\\.|\[:\w+:\]|[[\]^&~|]/gs, (part) => (part.length > 1 ? part : `\\${part}`));
    return negation === "" ? `[${escaped}]` : `[^/${escaped}]`;
  }

  #open(): string {
    this.#depth += 1;
    return "(?:";
  }

  #close(): string {
    this.#depth -= 1;
    return ")";
  }

  #escaped(): string {
    const at = this.#at;
    this.#at += 1;
    return at < this.#pattern.length ? this.#literal(at) : "\\\\";
  }

  /** Translates one character, which may be two UTF-16 units long. */
  #literal(at: number): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(at) ?? 0);
    this.#at = at + character.length;
    return RE2JS.quote(character);
  }
}

/** Matches a class whose opening bracket is before `at`. The groups are negation and members; the match includes the `]`. */
function readClass(pattern: string, at: number): RegExpExecArray | null {
  return /^([!^]?)((?:\\.|\[:\w+:\]|[^\\/])(?:\\.|\[:\w+:\]|[^\]\\/])*)\]/s.exec(pattern.slice(at));
}

/** Returns the pairs of braces that form a choice, opening to closing: those with a comma of their own. */
function pairBraces(pattern: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: { at: number; choices: number }[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const innermost = open.at(-1);
    if (character === "\\") {
      at += 1;
    } else if (character === "[") {
      at += readClass(pattern, at + 1)?.[0].length ?? 0;
    } else if (character === "{") {
      open.push({ at, choices: 0 });
    } else if (character === "," && innermost !== undefined) {
      innermost.choices += 1;
    } else if (character === "}" && innermost !== undefined) {
      open.pop();
      if (innermost.choices > 0) {
        pairs.set(innermost.at, at);
      }
    }
  }
  return pairs;
}
