// `runnel exchange`: carries a task between a workspace and any chat window as text files. Texts to show are in outbox/,
// answers go into inbox/.

import { type Command, InvalidArgumentError } from "commander";
import { Exchange_State } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { readCount, readUrl } from "../arguments.ts";
import { reasonOf } from "../connect.ts";
import { example } from "../example.ts";
import { type ExchangeContext, keepFiles, summaryOf } from "./context.ts";
import { Inbox } from "./inbox.ts";
import { inTurn } from "./lock.ts";
import { type ExchangeFlags, resumeCommand, withContext } from "./open-context.ts";
import { callPatiently } from "./patience.ts";
import { findLatestIncomplete, readSession } from "./session-file.ts";
import { takeNoted } from "./take.ts";
import { readAnswer, readTask } from "./text.ts";
import { watchExchange } from "./watch.ts";

interface WatchFlags extends ExchangeFlags {
  /** False for `--no-watch`. */
  readonly watch: boolean;
}

interface SubmitFlags extends ExchangeFlags {
  readonly session?: string;
  readonly sequence?: number;
}

/** Defines `exchange`. */
export function defineExchange(exchange: Command): void {
  addNew(exchange);
  addResume(exchange);
  addWatch(exchange);
  addSubmit(exchange);
}

function addExchangeFlags(command: Command): Command {
  return command
    .option("--url <url>", "URL of the service; unset starts one for this command", readUrl)
    .option("--dir <path>", "folder of outbox/, inbox/ and sessions/", ".")
    .option("--workspace <path>", "directory that the answers change; unset means workspace/ in the folder");
}

function addNew(exchange: Command): void {
  addExchangeFlags(exchange.command("new <task>"))
    .description("start an exchange for a task, or - for standard input, and watch it")
    .addHelpText("after", example('runnel exchange new "Add a health check to the server" --dir exchange'))
    .option("--no-watch", "exit when the first outbox is written")
    .action(async (words: string, flags: WatchFlags, command: Command) => {
      const task = await readTask(words);
      await withContext(command, flags, async (context) => {
        const exchanges = context.service.client(ExchangeService);
        const { signal, folders } = context;
        const { exchangeId: id, runId } = await exchanges.startExchange(
          { task, workDir: folders.workspace },
          { signal },
        );
        await context.reporter.started(id, runId);
        await goOn(context, flags, id);
      });
    });
}

function addResume(exchange: Command): void {
  addExchangeFlags(exchange.command("resume"))
    .argument("[session]", "exchange; unset means the incomplete one that changed last", readSessionId)
    .description("continue an exchange; an unknown one is imported from sessions/")
    .addHelpText("after", example("runnel exchange resume --dir exchange"))
    .option("--no-watch", "exit when its outbox is written")
    .action((named: string | undefined, flags: WatchFlags, command: Command) =>
      withContext(command, flags, async (context) => {
        const id = named ?? (await findLatestIncomplete(context.folders));
        await importUnknown(context, id);
        await goOn(context, flags, id);
      }),
    );
}

function addWatch(exchange: Command): void {
  addExchangeFlags(exchange.command("watch"))
    .argument("[session]", "exchange; unset means the incomplete one that changed last", readSessionId)
    .description("send the files of inbox/ as answers, oldest first, until the task is done")
    .addHelpText("after", example("runnel exchange watch --dir exchange"))
    .action((named: string | undefined, flags: ExchangeFlags, command: Command) =>
      withContext(command, flags, async (context) => {
        const id = named ?? (await findLatestIncomplete(context.folders));
        await goOn(context, { ...flags, watch: true }, id);
      }),
    );
}

function addSubmit(exchange: Command): void {
  addExchangeFlags(exchange.command("submit <file>"))
    .description("send one answer now, from a file or - for standard input; moves nothing")
    .addHelpText("after", example("runnel exchange submit answer.txt --dir exchange"))
    .option("--session <id>", "exchange; unset means the incomplete one that changed last", readSessionId)
    .option("--sequence <number>", "number of the answered outbox; unset means the newest", readCount)
    .action(async (path: string, flags: SubmitFlags, command: Command) => {
      const text = await readAnswer(path);
      await withContext(command, flags, async (context) => {
        const id = flags.session ?? (await findLatestIncomplete(context.folders));
        await inTurn(context, () => submit(context, { id, text, sequence: flags.sequence ?? 0 }));
      });
    });
}

async function submit(
  context: ExchangeContext,
  { id, text, sequence }: { id: string; text: string; sequence: number },
): Promise<void> {
  const { service, signal, reporter } = context;
  // This call has no retries: a service that is missing from the start is an error at once.
  await service.client(ExchangeService).getExchange({ exchangeId: id }, { signal });
  const request = { exchangeId: id, text, sequence };
  const response = await callPatiently(context, () => service.client(ExchangeService).submitInbox(request, { signal }));
  // A repeated text gets the results of its first submission.
  await reporter.results(response.isComplete ? response.sequence : response.sequence - 1, response.results);
  await keepFiles(context, id, "new");
  if (response.isComplete) {
    await reporter.completed(id, summaryOf(response.results) ?? "");
  }
}

/** Brings the folders in line with the service, then watches until the exchange has ended or Ctrl-C. */
async function goOn(context: ExchangeContext, flags: WatchFlags, id: string): Promise<void> {
  const { service, output, signal } = context;
  try {
    const { exchange } = await service.client(ExchangeService).getExchange({ exchangeId: id }, { signal });
    const inbox = new Inbox(context.folders);
    await inTurn(context, async () => {
      if (flags.watch) {
        await takeNoted(context, id, inbox);
      }
      await keepFiles(context, id, "any");
    });
    if (flags.watch && exchange !== undefined) {
      const { runId, sequence, state } = exchange;
      const isOpen = state === Exchange_State.WAITING || state === Exchange_State.WORKING;
      await watchExchange(context, { id, runId, inbox, sequence, isOpen });
    }
  } finally {
    if (signal.aborted) {
      const words = resumeCommand(id, flags);
      output.note(`\ninterrupted; nothing is lost: ${words}`, { note: "interrupted", session_id: id });
    }
  }
}

async function importUnknown(context: ExchangeContext, id: string): Promise<void> {
  const { service, folders, output, signal } = context;
  try {
    await service.client(ExchangeService).getExchange({ exchangeId: id }, { signal });
  } catch (error) {
    const session = reasonOf(error) === "EXCHANGE_NOT_FOUND" ? await readSession(folders, id) : undefined;
    if (session === undefined) {
      throw error;
    }
    const { sequence } = await service
      .client(ExchangeService)
      .importExchange({ session, workDir: folders.workspace }, { signal });
    const note = { note: "imported", session_id: id, sequence };
    output.note(`(the service did not know session ${id}: it goes on from sessions/, at outbox ${sequence})`, note);
  }
}

function readSessionId(text: string): string {
  if (/^[0-9a-f]{8}$/.test(text)) {
    return text;
  }
  throw new InvalidArgumentError("expected the 8 hexadecimal digits of a session");
}
