// Finds the words of code that have a colour. It has a script of its own, which is loaded with the first code.

import { type ParseOptions, parse, type TokenType } from "sugar-high/core";
import { lang, languages } from "sugar-high/lang";

/** A piece of code with one colour. */
export interface CodePiece {
  readonly text: string;
  readonly type: TokenType;
}

/** The library's time grows with the square of a hostile text. Code behind this limit has the colour of text. */
const colouredCharsMax = 8_000;

const options: ReadonlyMap<string, ParseOptions> = new Map(languages.map(({ id, config = {} }) => [id, config]));

/**
 * Returns the pieces of code in their order; together they are the text. `language` is what a model writes behind a fence, or the end of
 * a file's name. Returns undefined for a language without colours.
 */
export function colourCode(text: string, language: string): readonly CodePiece[] | undefined {
  const found = options.get(lang(language) ?? "");
  if (found === undefined) {
    return undefined;
  }
  const start = text.length <= colouredCharsMax ? text : text.slice(0, text.lastIndexOf("\n", colouredCharsMax) + 1);
  const pieces = [...piecesOf(start, found), { text: text.slice(start.length), type: "identifier" as const }];
  // People decide about what they read: a piece that the library loses costs the colours.
  return pieces.map((piece) => piece.text).join("") === text ? pieces : undefined;
}

function piecesOf(text: string, found: ParseOptions): readonly CodePiece[] {
  return parse(text, found).lines.flatMap(({ tokens }, index) => [
    ...(index > 0 ? [{ text: "\n", type: "break" as const }] : []),
    ...tokens.map(({ value, type }) => ({ text: value, type })),
  ]);
}
