// `runnel demo`: shows a run that survives kill -9. It has one session and two readers, and kills the service in the middle. A
// new service takes the run over, and both readers resume. Exits 0 only if nothing was lost or doubled.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { CommandError } from "./command-error.ts";
import { connectTo } from "./connect.ts";
import { defineDoors } from "./demo-doors.ts";
import { type ReaderName, type ReaderNews, readOverGrpc, readOverSse } from "./demo-reader.ts";
import { type DemoPlace, playScene, readOverKill, type Say } from "./demo-stage.ts";
import { defineTeam } from "./demo-team.ts";
import { findFaults } from "./demo-verdict.ts";
import { example } from "./example.ts";
import type { Output, Style } from "./output.ts";

/** The number of results that both readers have seen when the service is killed. */
const killAfterItems = 40;
const message = "List the files, then read story.txt. words=120 pace=15";

/** Defines `demo` and its scenes `doors` and `team`. */
export function defineDemo(command: Command): void {
  command
    .addHelpText("after", example("runnel demo --keep demo-data"))
    .option("--keep <directory>", "keep the database in this directory")
    .action(({ keep }: { keep?: string }) => playScene(command, { keep, play: runDemo, conclude }));
  defineDoors(command);
  defineTeam(command);
}

interface DemoOutcome {
  readonly sessionId: string;
  readonly runId: string;
  /** How many each reader received. */
  readonly results: number;
  /** What was lost, doubled or different. */
  readonly faults: readonly string[];
}

async function runDemo(place: DemoPlace): Promise<DemoOutcome> {
  const { home, say } = place;
  await writeFile(join(home, "story.txt"), "A run is written once.\nEvery reader gets the same results.\n");
  return await readOverKill(place, async (url) => {
    const { sessions } = connectTo(url);
    const agent = { name: "demo", model: "demo", tools: { builtin: ["list_dir", "read_file"] } };
    const { sessionId } = await sessions.createSession({ workDir: home, agent });
    const { runId } = await sessions.sendMessage({ sessionId, message });
    say(`session ${sessionId}`);
    say(`run     ${runId}\n`);
    const half = Promise.withResolvers<void>();
    const news = report(say, () => half.resolve());
    const reading = Promise.all([readOverGrpc(url, runId, news), readOverSse(url, runId, news)]);
    const whole = reading.then(([overGrpc, overSse]) => ({
      sessionId,
      runId,
      results: overGrpc.length,
      faults: findFaults(overGrpc, overSse),
    }));
    return { half: half.promise, whole };
  });
}

const styles: Readonly<Record<ReaderName, Style>> = { gRPC: "cyan", SSE: "magenta" };
const columns: Readonly<Record<ReaderName, string>> = { gRPC: "", SSE: " ".repeat(40) };

/** Prints the results of both readers side by side, and calls `onHalf` when both are in the middle of the text. */
function report(say: Say, onHalf: () => void): ReaderNews {
  const counts = { gRPC: 0, SSE: 0 };
  const sayOf = (reader: ReaderName, text: string): void => say(`${columns[reader]}${reader} ${text}`, styles[reader]);
  return {
    onItem: (reader, { sequence, type }) => {
      counts[reader]++;
      // The text has many results: one of twenty is enough to see that they come.
      if (type !== "message.delta" || sequence % 20 === 0) {
        sayOf(reader, `#${sequence} ${type}`);
      }
      if (Math.min(counts.gRPC, counts.SSE) >= killAfterItems) {
        onHalf();
      }
    },
    onResume: (reader, after) => sayOf(reader, `resumes after #${after}`),
  };
}

/** Prints the outcome. Throws PROMISE_BROKEN when the readers differ. */
async function conclude(outcome: DemoOutcome, output: Output): Promise<void> {
  const { results, faults } = outcome;
  await output.answer(outcome, (paint) =>
    faults.length === 0
      ? paint(["green", "bold"], `\n✓ Both readers have results 1 to ${results}: none lost, none twice, the same text.`)
      : `\nResults over gRPC: ${results}.`,
  );
  if (faults.length > 0) {
    throw new CommandError(`the readers did not get the same: ${faults.join("; ")}`, { reason: "PROMISE_BROKEN" });
  }
}
