// Suggests a known word when a name is unknown. Written by hand: commander does not export its own, and libraries with plain
// Levenshtein distance count two edits for two swapped letters.

/** The maximum length that is compared, in characters. */
const charsMax = 100;
const editsMax = 4;

/**
 * Returns the known word with the fewest edits, if they are few for its length; otherwise undefined. The first of several
 * counts.
 */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.min(editsMax, Math.max(1, Math.floor(word.length / 3)));
  const ranked = known
    .map((each) => ({ each, edits: countEdits(word.slice(0, charsMax), each) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= limit ? best.each : undefined;
}

/** Returns `; did you mean write_file?` for the end of a message, or an empty text when no known word is near. */
export function suggest(word: string, known: readonly string[]): string {
  const nearest = findNearest(word, known);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

/** Counts the letters to insert, drop, replace or swap with their neighbour (optimal string alignment). */
function countEdits(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1;
      let edits = Math.min(at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + cost);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, at(before, column - 2) + 1);
      }
      current.push(edits);
    }
    before = above;
    above = current;
  }
  return at(above, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
