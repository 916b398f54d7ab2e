// Bounds the size of the results of one inbox when they are shown together: an outbox and an answer have 4 MiB, and a thousand
// commands may print more.
// F1: the fitted results take at most `resultsBytesMax`, for as many results as an inbox may have.
// F2: results that take no more than that stay unchanged.
// F3: every result keeps its type, its success and the beginning of its summary. Results are kept whole in their order, as long
//     as the shortened ones after them fit as well.

import type { CommandResult } from "./command.ts";

/** The maximum size of all results: 1 MiB. */
export const resultsBytesMax = 1_048_576;

/** The size of a result without summary and output: type, success, line ends, the tags and lengths of a message. */
const frameBytes = 64;

/**
 * The length of a shortened summary. It tells commands apart, and a thousand such results take less than half of the maximum.
 */
const summaryUnitsMax = 100;

const outputLeftOut = "(output left out: the results are too long for one message)";

/** Shortens results until they fit together; see F1 to F3. */
export function fitResults(results: readonly CommandResult[]): CommandResult[] {
  const shortened = results.map((result) => ({ result, short: shorten(result) }));
  let bytesLeft = resultsBytesMax - countBytes(shortened.map(({ short }) => short));
  return shortened.map(({ result, short }) => {
    const bytesMore = resultBytes(result) - resultBytes(short);
    if (bytesMore > bytesLeft) {
      return short;
    }
    bytesLeft -= bytesMore;
    return result;
  });
}

/** Returns the size of results as counted against the maximum. */
export function countBytes(results: readonly CommandResult[]): number {
  return results.reduce((bytes, result) => bytes + resultBytes(result), 0);
}

function resultBytes({ summary, output }: CommandResult): number {
  return frameBytes + Buffer.byteLength(summary) + Buffer.byteLength(output);
}

/** Shortens a result. The outcome is never longer than the result itself. */
function shorten(result: CommandResult): CommandResult {
  const summary =
    result.summary.length > summaryUnitsMax
      ? `${result.summary.slice(0, summaryUnitsMax).toWellFormed()}…`
      : result.summary;
  const short = { ...result, summary, output: result.output === "" ? "" : outputLeftOut };
  return resultBytes(short) < resultBytes(result) ? short : result;
}
