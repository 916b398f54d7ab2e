// `runnel receipt`: fetches the receipt of a run, and with it the run's log as it is stored. `runnel verify` checks both.

import { resolve } from "node:path";
import type { Command } from "commander";
import type { GetReceiptResponse } from "#gen/runnel/v1/receipt_service_pb.js";
import { printLogLine } from "../engine/hash-chain/log-line.ts";
import { CommandError } from "./command-error.ts";
import { type LogClient, withService } from "./connect.ts";
import { example } from "./example.ts";
import { followEntries, noteReconnect, patienceMs } from "./follow.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import { NewFile } from "./new-file.ts";
import { type Output, outputOf } from "./output.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

interface ReceiptFlags extends ServiceFlags {
  readonly out?: string;
  readonly log?: string;
  readonly force?: true;
}

/** Defines `receipt`. */
export function defineReceipt(command: Command): void {
  addServiceFlags(command.argument("<run>"))
    .addHelpText(
      "after",
      example("runnel receipt 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --out receipt.json --log run.log"),
    )
    .option("--out <file>", "file for the receipt; unset means standard output")
    .option("--log <file>", "file for the log, one entry per line")
    .option("--force", "overwrite existing files")
    .action(fetchReceipt);
}

async function fetchReceipt(runId: string, flags: ReceiptFlags, command: Command): Promise<void> {
  const { out, log: logPath } = flags;
  if (out !== undefined && logPath !== undefined && resolve(out) === resolve(logPath)) {
    const what = "the receipt and the log cannot be one file";
    throw new CommandError(what, { reason: "USAGE", fix: "name two files", exitCode: 2 });
  }
  const output = outputOf(command);
  leaveOnInterrupt(() => output.note("interrupted; nothing was written", { note: "interrupted", run_id: runId }));
  await using receiptFile = await openFile(out, flags);
  await using logFile = await openFile(logPath, flags);
  await withService(flags, async (service) => {
    // This call has no retries: a service that is missing from the start is an error at once.
    const receipt = receiptToJson(await service.receipts.getReceipt({ runId }));
    const log = logFile && (await writeLog(service.log, runId, logFile, output));
    const text = `${JSON.stringify(receipt, null, 2)}\n`;
    await receiptFile?.write(text);
    await logFile?.keep();
    await receiptFile?.keep();
    if (receiptFile !== undefined) {
      const said = [`wrote ${receiptFile.path}`, ...(log === undefined ? [] : [log.said])];
      await output.answer({ run_id: runId, file: receiptFile.path, ...log?.value }, () => said.join("\n"));
      return;
    }
    if (log !== undefined) {
      output.note(log.said, { note: "wrote", ...log.value });
    }
    await output.answer(receipt, () => text);
  });
}

async function openFile(path: string | undefined, { force }: ReceiptFlags): Promise<NewFile | undefined> {
  return path === undefined ? undefined : await NewFile.open(path, { force: force === true });
}

/** Returns the answer as REST gives it, with the statement as an object. */
function receiptToJson({ jws, statement }: GetReceiptResponse): { jws: string; statement: unknown } {
  return { jws, statement: JSON.parse(statement) };
}

interface WrittenLog {
  readonly said: string;
  readonly value: { readonly log: string; readonly entries: number };
}

async function writeLog(client: LogClient, runId: string, file: NewFile, output: Output): Promise<WrittenLog> {
  let entries = 0;
  for await (const entry of followEntries(client, {
    runId,
    after: 0n,
    patienceMs,
    onReconnect: noteReconnect(output),
  })) {
    await file.write(`${printLogLine(entry)}\n`);
    entries += 1;
  }
  const said = `wrote ${file.path}: ${entries} ${entries === 1 ? "entry" : "entries"}`;
  return { said, value: { log: file.path, entries } };
}
