// `runnel record` and `runnel replay`: a finished run as a file, and the file as a test of this version.

import type { Command } from "commander";
import { printRecording, readRecording } from "../agent/replay/recording.ts";
import { type Difference, replay } from "../agent/replay/replay.ts";
import { resultTypeOf } from "../engine/log/result.ts";
import { CommandError } from "./command-error.ts";
import { type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { followEntries, noteReconnect, patienceMs } from "./follow.ts";
import { readInput } from "./input.ts";
import { NewFile } from "./new-file.ts";
import { outputOf } from "./output.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

interface RecordFlags extends ServiceFlags {
  readonly out: string;
  readonly force?: true;
}

/** Defines `record`. */
export function defineRecord(command: Command): void {
  addServiceFlags(command.argument("<run>"))
    .addHelpText("after", example("runnel record 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d --out run.json"))
    .requiredOption("--out <file>", "file for the recording")
    .option("--force", "overwrite an existing file")
    .action(async (runId: string, flags: RecordFlags) => {
      const output = outputOf(command);
      await using file = await NewFile.open(flags.out, { force: flags.force === true });
      const entries = await withService(flags, async (service) => {
        const { messages, agent } = await readRun(service, runId);
        const log: Uint8Array[] = [];
        const following = { runId, after: 0n, patienceMs, onReconnect: noteReconnect(output) };
        for await (const entry of followEntries(service.log, following)) {
          log.push(entry.bytes);
        }
        await file.write(printRecording({ runId, agent, messages, log }));
        return log.length;
      });
      await file.keep();
      await output.answer({ run_id: runId, file: file.path, entries }, () => `wrote ${file.path}: ${entries} entries`);
    });
}

/** Returns the settings of a run, and the messages of its session up to its input. */
async function readRun({ runs, sessions }: Service, runId: string) {
  const { agent, messages: input } = await runs.getRunInput({ runId });
  const { run } = await runs.getRun({ runId });
  if (agent === undefined || run?.driver !== "llm-loop") {
    const what = `run ${runId} is not one of the agent loop`;
    throw new CommandError(what, { reason: "INVALID_ARGUMENT", fix: "record a run of a session", exitCode: 1 });
  }
  const before = [];
  let pageToken = "";
  do {
    const page = await sessions.listMessages({ sessionId: run.sessionId, pageSize: 250, pageToken });
    const own = page.messages.findIndex((each) => each.runId === runId);
    before.push(...page.messages.slice(0, own === -1 ? undefined : own));
    pageToken = own === -1 ? page.nextPageToken : "";
  } while (pageToken !== "");
  const messages = [...before.flatMap(({ message }) => (message === undefined ? [] : [message])), ...input];
  return { agent, messages };
}

/** More than the longest log of the agent loop has in base64, and less than a text may have. */
const recordingBytesMax = 268_435_456;

/** Defines `replay`. */
export function defineReplay(command: Command): void {
  command
    .argument("<file>")
    .addHelpText("after", example("runnel replay run.json"))
    .action(async (path: string) => {
      const recording = readRecording((await readInput(path, recordingBytesMax)).toString());
      const { compared, differences, isCut } = await replay(recording);
      const { runId } = recording;
      const said = [
        ...differences.slice(0, shownMax).map(describe),
        `${compared - differences.length} of ${compared} entries are the same${isCut ? "; the end came from outside and is not replayed" : ""}`,
      ].join("\n");
      const places = differences.map(({ sequence }) => sequence);
      await outputOf(command).answer({ run_id: runId, compared, differences: places, is_cut: isCut }, () => said);
      if (differences.length > 0) {
        process.exitCode = 1;
      }
    });
}

const shownMax = 10;

function describe({ sequence, recorded, replayed }: Difference): string {
  const name = resultTypeOf(recorded?.case);
  return [`entry ${sequence} (${name}) differs`, `  recorded ${print(recorded)}`, `  replayed ${print(replayed)}`].join(
    "\n",
  );
}

function print(payload: Difference["recorded"]): string {
  const json = JSON.stringify(payload?.value, (key, value) =>
    key === "$typeName" ? undefined : typeof value === "bigint" ? String(value) : value,
  );
  return payload === undefined ? "nothing" : `${resultTypeOf(payload.case)} ${json.slice(0, 500)}`;
}
