// Renders the text of an outbox (Outbox Format): four sections, an empty line between any two, LF, a newline at the end. Pure:
// the same data give the same bytes.
// O1: external text stays unchanged, except that a task has one line in the header and a path has one line everywhere.
// O2: an outbox fits one message, `outboxBytesMax`: the listing takes less than 0.6 MiB of it, the results 1 MiB, the requested
//     contents 2 MiB, the task twice 64 KiB. This file bounds the results; the code that collects the data bounds the rest.

import type { FileListing } from "../../../agent/tools/search/request.ts";
import type { CommandResult } from "../command.ts";
import { fitResults } from "../fit-results.ts";
import { instructions } from "./instructions.ts";
import { printRequestedFile, type RequestedFile } from "./requested-file.ts";
import { showPath } from "./show-path.ts";

/** The maximum size of an outbox: of the 4 MiB of a message, 4 KiB are reserved for the fields around the text. */
export const outboxBytesMax: number = 4_194_304 - 4_096;

/** The data of an outbox. */
export interface Outbox {
  readonly exchangeId: string;
  readonly sequence: number;
  readonly task: string;
  /** The files that `listWorkspace` found. */
  readonly files: FileListing;
  /** The results of the last inbox. */
  readonly results: readonly CommandResult[];
  /** The files that `readRequested` read. */
  readonly requested: readonly RequestedFile[];
}

/** Renders an outbox, from `=== HEADER ===` to `=== PROMPT ===`. */
export function renderOutbox(outbox: Outbox): string {
  const sections = [
    renderHeader(outbox),
    `=== PROTOCOL ===\n${instructions}`,
    `=== CONTEXT ===\n${renderFiles(outbox.files)}`,
    ...renderResults(outbox),
    ...renderRequested(outbox.requested),
    `=== PROMPT ===\n${outbox.sequence === 1 ? outbox.task : continuation}`,
  ];
  // An output may be cut inside a surrogate pair, and UTF-8 cannot encode one half.
  return `${sections.join("\n\n")}\n`.toWellFormed();
}

const continuation =
  "Continue working on the task based on the results above. If the task is complete, send [DONE] with a summary.";

function renderHeader({ exchangeId, sequence, task }: Outbox): string {
  return `=== HEADER ===\nSession: ${exchangeId}\nSequence: ${sequence}\nTask: ${firstLine(task)}`;
}

/**
 * Returns the first line of the task that is not blank. `…` means that the task has more lines. The prompt of the first outbox
 * shows all lines.
 */
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
