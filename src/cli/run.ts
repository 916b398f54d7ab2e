// `runnel run` and `runnel tail`: send a message and follow its run, or follow a known run.

import { resolve } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { readSequence } from "./arguments.ts";
import { addUrlFlag, type RunClient, type SessionClient, withService } from "./connect.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { followRun, noteReconnect, patienceMs } from "./follow.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import { type Output, outputOf } from "./output.ts";
import { createResultView } from "./show.ts";
import { withWorkDir } from "./work-dir.ts";

interface RunFlags {
  readonly url: string;
  readonly model: string;
  readonly workDir?: string;
  readonly tools: string;
  readonly approve: string;
  readonly session?: string;
  readonly queue?: boolean;
}

interface TailFlags {
  readonly url: string;
  readonly after?: bigint;
}

/** Defines `run`. */
export function defineRun(command: Command): void {
  addUrlFlag(command.argument("<message>"))
    .addHelpText("after", example('runnel run "Which files are here?" --tools list_dir,read_file'))
    .option("--model <name>", "model; unset means the service's default", "")
    .option(
      "--work-dir <path>",
      "directory of the tools, created after confirmation; unset means a new one for the session",
    )
    .option("--tools <names>", "built-in tools, separated by commas", "list_dir,read_file")
    .option(
      "--approve <names>",
      "tools of these whose calls wait for `runnel approvals approve`, separated by commas",
      "",
    )
    .option("--session <id>", "existing session")
    .option("--queue", "wait while another run of the session is active")
    .action((message: string, flags: RunFlags) =>
      withService(flags.url, async ({ sessions, runs }) => {
        const output = outputOf(command);
        const sessionId = flags.session ?? (await createSession(sessions, flags, output.asJson));
        const { runId } = await sessions.sendMessage({ sessionId, message, queueIfBusy: flags.queue === true });
        output.note(`session ${sessionId}  run ${runId}`, { note: "started", sessionId, runId });
        await showRun(runs, { runId, after: 0n, output });
      }),
    );
}

/** Defines `tail`. */
export function defineTail(command: Command): void {
  addUrlFlag(command.argument("<run>"))
    .addHelpText("after", example("runnel tail 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --after 12"))
    .option("--after <sequence>", "sequence of the last result that you have; unset means from the start", readSequence)
    .action((runId: string, { url, after = 0n }: TailFlags) =>
      withService(url, async ({ runs }) => {
        // This call has no retries: a service that is missing from the start is an error at once.
        await runs.getRun({ runId });
        await showRun(runs, { runId, after, output: outputOf(command) });
      }),
    );
}

async function createSession(sessions: SessionClient, flags: RunFlags, asJson: boolean): Promise<string> {
  const [builtin, approve] = [flags.tools, flags.approve].map((names) =>
    names.split(",").filter((each) => each !== ""),
  );
  const agent = { name: "cli", model: flags.model, tools: { builtin: builtin ?? [], approve: approve ?? [] } };
  if (flags.workDir === undefined) {
    return (await sessions.createSession({ agent })).sessionId;
  }
  const workDir = resolve(flags.workDir);
  return (await withWorkDir(workDir, asJson, () => sessions.createSession({ workDir, agent }))).sessionId;
}

interface Following {
  readonly runId: string;
  readonly after: bigint;
  readonly output: Output;
}

/** Follows a run to its end, which decides the exit code. */
export async function showRun(runs: RunClient, { runId, after, output }: Following): Promise<void> {
  let seen = after;
  let last: RunResult | undefined;
  leaveOnInterrupt(() => {
    const text = `\ninterrupted; the run goes on: runnel tail ${runId} --after ${seen}`;
    output.note(text, { note: "interrupted", runId, after: String(seen) });
  });
  const onReconnect = noteReconnect(output);
  const view = createResultView({ isBegun: after > 0n });
  for await (const result of followRun(runs, { runId, after, patienceMs, onReconnect })) {
    await output.stream(
      () => toJson(RunResultSchema, result),
      () => view(result),
    );
    seen = result.sequence;
    last = result;
  }
  if (last?.payload.case === "runFailed") {
    process.exitCode = exitCodes.followedFailed;
  }
}
