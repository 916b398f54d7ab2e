// Bounds what the results of one inbox take where they are shown together: an outbox and an answer have 4 MiB, and a thousand
// commands may print more.
// F1: what comes back takes at most `resultsBytesMax`, for as many results as an inbox may have.
// F2: results that take no more than that come back as they are.
// F3: of every result the type, the success and the beginning of the summary stay. Results are kept whole in their order, as
//     long as the shortened ones behind them have room as well.

import type { CommandResult } from "./command.ts";

/** 1 MiB. */
export const resultsBytesMax = 1_048_576;

/** For all that stands around summary and output: type, success, line ends, the tags and lengths of a message. */
const frameBytes = 64;

/** Enough to tell commands apart; with it a thousand results take less than half of all. */
const summaryUnitsMax = 100;

const outputLeftOut = "(output left out: the results are too long for one message)";

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

/** What results take together, as far as the bound is concerned. */
export function countBytes(results: readonly CommandResult[]): number {
  return results.reduce((bytes, result) => bytes + resultBytes(result), 0);
}

function resultBytes({ summary, output }: CommandResult): number {
  return frameBytes + Buffer.byteLength(summary) + Buffer.byteLength(output);
}

/** Never longer than the result itself. */
function shorten(result: CommandResult): CommandResult {
  const summary =
    result.summary.length > summaryUnitsMax
      ? `${result.summary.slice(0, summaryUnitsMax).toWellFormed()}…`
      : result.summary;
  const short = { ...result, summary, output: result.output === "" ? "" : outputLeftOut };
  return resultBytes(short) < resultBytes(result) ? short : result;
}
