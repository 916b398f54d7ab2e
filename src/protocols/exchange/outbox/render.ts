// The text of an outbox (Outbox Format): four sections, an empty line between any two, LF, a newline at the end. Pure: the same
// data give the same bytes.
// O1: what comes from outside stands as it is, except that a task has one line in the header and a path one wherever it is.
// O2: an outbox fits one message, `outboxBytesMax`: the listing takes less than 0.6 MiB of it, the results 1 MiB, the
//     requested contents 2 MiB, the task twice 64 KiB. Who gathers the data keeps the others small, this file the results.

import type { FileListing } from "../../../agent/tools/search/request.ts";
import type { CommandResult } from "../command.ts";
import { fitResults } from "../fit-results.ts";
import { instructions } from "./instructions.ts";
import { printRequestedFile, type RequestedFile } from "./requested-file.ts";
import { showPath } from "./show-path.ts";

/** Of the 4 MiB that a message may have, 4 KiB are for what stands around the text. */
export const outboxBytesMax: number = 4_194_304 - 4_096;

export interface Outbox {
  readonly exchangeId: string;
  readonly sequence: number;
  readonly task: string;
  /** What `listWorkspace` found. */
  readonly files: FileListing;
  /** What the commands of the last inbox did. */
  readonly results: readonly CommandResult[];
  /** What `readRequested` read. */
  readonly requested: readonly RequestedFile[];
}

export function renderOutbox(outbox: Outbox): string {
  const sections = [
    renderHeader(outbox),
    `=== PROTOCOL ===\n${instructions}`,
    `=== CONTEXT ===\n${renderFiles(outbox.files)}`,
    ...renderResults(outbox),
    ...renderRequested(outbox.requested),
    `=== PROMPT ===\n${outbox.sequence === 1 ? outbox.task : continuation}`,
  ];
  // An output may have been cut between the halves of a character, which no UTF-8 can hold.
  return `${sections.join("\n\n")}\n`.toWellFormed();
}

const continuation =
  "Continue working on the task based on the results above. If the task is complete, send [DONE] with a summary.";

function renderHeader({ exchangeId, sequence, task }: Outbox): string {
  return `=== HEADER ===\nSession: ${exchangeId}\nSequence: ${sequence}\nTask: ${firstLine(task)}`;
}

/** Its first line with anything in it. `…` says that there is more, which the prompt of the first outbox shows. */
function firstLine(task: string): string {
  const [first = "", ...others] = task.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return others.length === 0 ? first : `${first}…`;
}

function renderFiles({ files, moreFiles, leftOut }: FileListing): string {
  const lines = files.map(({ path, bytes }) => `  ${showPath(path)} (${bytes} bytes)`);
  if (moreFiles > 0) {
    lines.push(`  ... (${moreFiles} more files)`);
  }
  if (leftOut !== undefined) {
    lines.push(`  ... (${leftOut})`);
  }
  return ["## Workspace Files", ...(lines.length === 0 ? ["(empty workspace)"] : lines)].join("\n");
}

function renderResults({ sequence, results }: Outbox): string[] {
  return sequence === 1 || results.length === 0
    ? []
    : [["## Previous Command Results", ...fitResults(results).map(renderResult)].join("\n")];
}

function renderResult({ success, type, summary, output }: CommandResult): string {
  const head = `[${success ? "OK" : "FAILED"}] ${type}: ${summary}`;
  return output.trim() === "" ? head : `${head}\n  Output: ${output}`;
}

function renderRequested(requested: readonly RequestedFile[]): string[] {
  return requested.length === 0
    ? []
    : [["## Requested File Contents", ...requested.map(printRequestedFile)].join("\n")];
}
