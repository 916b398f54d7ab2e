// The colours of the lines of a change: those before it are one text, and those after it another.

import { visibleText } from "../lib/visible-text.ts";
import { languageOfPath } from "../ui/code-language.ts";
import type { CodePiece } from "../ui/colour.ts";
import { useColours } from "../ui/coloured-code.tsx";
import type { ChangedLine } from "./line-change.ts";

/** Returns the pieces of each line that has colours. */
export function useLineColours(
  lines: readonly ChangedLine[],
  path: string,
): ReadonlyMap<ChangedLine, readonly CodePiece[]> {
  const before = useSide(lines, "+", path);
  const after = useSide(lines, "-", path);
  return new Map([...before, ...after]);
}

function useSide(
  lines: readonly ChangedLine[],
  left: "+" | "-",
  path: string,
): readonly (readonly [ChangedLine, readonly CodePiece[]])[] {
  const own = lines.filter(({ sign }) => sign !== left && sign !== "…");
  const pieces = useColours(own.map(({ text }) => visibleText(text)).join("\n"), languageOfPath(path));
  const split = pieces === undefined ? [] : splitLines(pieces);
  return own.slice(0, split.length).map((line, index) => [line, split[index] ?? []]);
}

/** Splits pieces at line ends. */
function splitLines(pieces: readonly CodePiece[]): readonly (readonly CodePiece[])[] {
  const lines: CodePiece[][] = [[]];
  for (const { text, type } of pieces) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) {
        lines.push([]);
      }
      lines.at(-1)?.push({ text: part, type });
    }
  }
  return lines;
}
