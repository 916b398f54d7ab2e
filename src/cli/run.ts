// `runnel run` and `runnel tail`: send a message and follow its run, or follow a known run.

import type { Command } from "commander";
import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { SendMessageResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import { parseJson } from "../platform/base/json/parse-object.ts";
import { type AgentFlags, addAgentFlags, createSession, readReplacements } from "./agent-flags.ts";
import { answerJson } from "./answer-json.ts";
import { readSequence } from "./arguments.ts";
import { CommandError } from "./command-error.ts";
import { type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import { readMessage } from "./message.ts";
import { withModelHint } from "./models.ts";
import { type Output, outputOf } from "./output.ts";
import { outputOfCompleted, printRun } from "./print-run.ts";
import { sendFirst } from "./send-first.ts";
import { addServiceFlags, lineFor, type ServiceFlags } from "./target.ts";

interface RunFlags extends AgentFlags, ServiceFlags {
  readonly file: readonly string[];
  readonly session?: string;
  readonly queue?: boolean;
  readonly detach?: boolean;
}

interface TailFlags extends ServiceFlags {
  readonly after?: bigint;
}

const runId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";

/** Defines `run`. */
export function defineRun(command: Command): void {
  addAgentFlags(addServiceFlags(command.argument("<message>", "the message; - reads standard input")))
    .addHelpText("after", example('runnel run "Which files are here?" --tools list_dir,read_file'))
    .option(
      "--file <path>",
      "file that goes with the message: text, an image, or another type that the model reads; may be repeated",
      (path, paths: readonly string[]) => [...paths, path],
      [],
    )
    .option("--session <id>", "existing session; its agent answers, with the settings of these flags for this run")
    .option("--queue", "wait while another run of the session is active")
    .option("--detach", "print the id of the run, and do not follow it")
    .action(async (words: string, flags: RunFlags) => {
      const input = await readMessage(words, flags.file);
      const output = outputOf(command);
      await withService(flags, async (service) => {
        const { sessions } = service;
        const send = (sessionId: string, agent?: Agent) =>
          sessions.sendMessage({ sessionId, ...(agent && { agent }), ...input, queueIfBusy: flags.queue === true });
        const response = await withModelHint(service, flags.model, async () =>
          flags.session === undefined
            ? await sendFirst(sessions, await createSession(sessions, flags, output.asJson), send)
            : await send(flags.session, await readReplacements(flags)),
        );
        const { runId, sessionId } = response;
        if (flags.detach === true) {
          await output.answer(answerJson(SendMessageResponseSchema, response), () => runId);
          output.note(`follow it: ${lineFor(flags, `runnel tail ${runId}`)}`);
          return;
        }
        output.note(`session ${sessionId}  run ${runId}`, { note: "started", session_id: sessionId, run_id: runId });
        await showRun(service, { runId, after: 0n, flags, output, onlyOutput: flags.schema !== undefined });
      });
    });
}

/** Defines `tail`. */
export function defineTail(command: Command): void {
  addServiceFlags(command.argument("<run>"))
    .addHelpText("after", example(`runnel tail ${runId} --after 12`))
    .option("--after <sequence>", "sequence of the last result that you have; unset means from the start", readSequence)
    .action((runId: string, { after = 0n, ...flags }: TailFlags) =>
      withService(flags, async (service) => {
        // This call has no retries: a service that is missing from the start is an error at once.
        await service.runs.getRun({ runId });
        await showRun(service, { runId, after, flags, output: outputOf(command) });
      }),
    );
}

interface Following {
  readonly runId: string;
  readonly after: bigint;
  readonly flags: ServiceFlags;
  readonly output: Output;
  readonly onlyOutput?: boolean;
}

/** Follows a run to its end, which decides the exit code. */
export async function showRun(
  { runs, client }: Pick<Service, "runs" | "client">,
  { runId, after, flags, output, onlyOutput = false }: Following,
): Promise<void> {
  let seen = after;
  const signal = leaveOnInterrupt(
    (canStop) => {
      const [follow, stop] = [`tail ${runId} --after ${seen}`, `runs cancel ${runId}`].map((words) =>
        lineFor(flags, `runnel ${words}`),
      );
      const lines = ["interrupted; the run goes on", `  follow it: ${follow}`, `  stop it:   ${stop}`];
      const text = `\n${lines.join("\n")}${canStop ? ", or Ctrl-C again" : ""}`;
      output.note(text, { note: "interrupted", run_id: runId, after: String(seen) });
    },
    async () => {
      await runs.cancelRun({ runId });
      output.note(`cancelled run ${runId}`, { note: "cancelled", run_id: runId });
    },
  );
  const onSeen = (sequence: bigint): void => {
    seen = sequence;
  };
  const last = await printRun({ runs, client }, { runId, after, output, signal, onlyOutput, onSeen });
  if (last?.payload.case === "runFailed") {
    process.exitCode = exitCodes.followedFailed;
  }
  if (last?.payload.case === "runCompleted" && onlyOutput) {
    await assertJson(runs, runId, outputOfCompleted(last.payload.value));
  }
}

async function assertJson(runs: Service["runs"], runId: string, answer: string): Promise<void> {
  if (parseJson(answer) === undefined) {
    const { run } = await runs.getRun({ runId, outputCharsMax: 1 });
    throw new CommandError(`the answer of ${run?.model} is not JSON`, {
      reason: "ANSWER_NOT_JSON",
      fix: "use a model that takes a JSON Schema: `demo`, for instance, takes none",
    });
  }
}
