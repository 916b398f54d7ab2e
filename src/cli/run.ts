// `runnel run` and `runnel tail`: send a message and follow its run, or follow a known run.

import { toJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type AgentFlags, addAgentFlags, createSession } from "./agent-flags.ts";
import { decideAtTerminal } from "./approvals.ts";
import { readSequence } from "./arguments.ts";
import { mayAsk } from "./ask.ts";
import { addUrlFlag, lineFor, type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { followRun, noteReconnect, patienceMs } from "./follow.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import { readMessage } from "./message.ts";
import { type Output, outputOf } from "./output.ts";
import { createResultView } from "./show.ts";

interface RunFlags extends AgentFlags {
  readonly url: string;
  readonly file: readonly string[];
  readonly session?: string;
  readonly queue?: boolean;
  readonly detach?: boolean;
}

interface TailFlags {
  readonly url: string;
  readonly after?: bigint;
}

const runId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";

/** Defines `run`. */
export function defineRun(command: Command): void {
  addAgentFlags(addUrlFlag(command.argument("<message>", "the message; - reads standard input")))
    .addHelpText("after", example('runnel run "Which files are here?" --tools list_dir,read_file'))
    .option(
      "--file <path>",
      "file that goes with the message: text, an image, or another type that the model reads; may be repeated",
      (path, paths: readonly string[]) => [...paths, path],
      [],
    )
    .option("--session <id>", "existing session; its agent answers")
    .option("--queue", "wait while another run of the session is active")
    .option("--detach", "print the id of the run, and do not follow it")
    .action(async (words: string, flags: RunFlags) => {
      const input = await readMessage(words, flags.file);
      const output = outputOf(command);
      await withService(flags.url, async (service) => {
        const { sessions } = service;
        const sessionId = flags.session ?? (await createSession(sessions, flags, output.asJson));
        const { runId } = await sessions.sendMessage({ sessionId, ...input, queueIfBusy: flags.queue === true });
        if (flags.detach === true) {
          await output.answer({ sessionId, runId }, () => runId);
          output.note(`follow it: ${lineFor(flags.url, `runnel tail ${runId}`)}`);
          return;
        }
        output.note(`session ${sessionId}  run ${runId}`, { note: "started", sessionId, runId });
        await showRun(service, { runId, after: 0n, url: flags.url, output });
      });
    });
}

/** Defines `tail`. */
export function defineTail(command: Command): void {
  addUrlFlag(command.argument("<run>"))
    .addHelpText("after", example(`runnel tail ${runId} --after 12`))
    .option("--after <sequence>", "sequence of the last result that you have; unset means from the start", readSequence)
    .action((runId: string, { url, after = 0n }: TailFlags) =>
      withService(url, async (service) => {
        // This call has no retries: a service that is missing from the start is an error at once.
        await service.runs.getRun({ runId });
        await showRun(service, { runId, after, url, output: outputOf(command) });
      }),
    );
}

interface Following {
  readonly runId: string;
  readonly after: bigint;
  readonly url: string;
  readonly output: Output;
}

/** Follows a run to its end, which decides the exit code. */
export async function showRun(
  { runs, client }: Pick<Service, "runs" | "client">,
  { runId, after, url, output }: Following,
): Promise<void> {
  let seen = after;
  let last: RunResult | undefined;
  const signal = leaveOnInterrupt(
    (canStop) => {
      const [follow, stop] = [`tail ${runId} --after ${seen}`, `runs cancel ${runId}`].map((words) =>
        lineFor(url, `runnel ${words}`),
      );
      const lines = ["interrupted; the run goes on", `  follow it: ${follow}`, `  stop it:   ${stop}`];
      const text = `\n${lines.join("\n")}${canStop ? ", or Ctrl-C again" : ""}`;
      output.note(text, { note: "interrupted", runId, after: String(seen) });
    },
    async () => {
      await runs.cancelRun({ runId });
      output.note(`cancelled run ${runId}`, { note: "cancelled", runId });
    },
  );
  const onReconnect = noteReconnect(output);
  const view = createResultView({ isBegun: after > 0n });
  for await (const result of followRun(runs, { runId, after, patienceMs, signal, onReconnect })) {
    await output.stream(
      () => toJson(RunResultSchema, result),
      () => view(result),
    );
    seen = result.sequence;
    last = result;
    if (result.payload.case === "approvalRequested" && mayAsk(output.asJson)) {
      await decideAtTerminal({ client }, result.payload.value.approvalId, output);
    }
  }
  if (last?.payload.case === "runFailed") {
    process.exitCode = exitCodes.followedFailed;
  }
}
