// `runnel demo team`: three agents work on one task while their service is killed with -9. Exits 0 only if each call has started one run,
// and all of them have completed.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { CommandError } from "./command-error.ts";
import { connectTo } from "./connect.ts";
import { type Received, readOverGrpc } from "./demo-reader.ts";
import { type DemoPlace, playScene, type Reading, readOverKill } from "./demo-stage.ts";
import { example } from "./example.ts";
import type { Output } from "./output.ts";
import { readTree, showTree } from "./run-tree.ts";

const tools = { builtin: ["read_file"] };
const editor = {
  name: "editor",
  model: "demo",
  maxTurns: 5,
  tools: {
    ...tools,
    agents: [
      { name: "researcher", description: "Finds facts in the files.", agent: { tools, maxTurns: 5 } },
      { name: "critic", description: "Finds gaps in a text.", agent: {} },
    ],
  },
};
const message = [
  "Ask the researcher: Read facts.txt. words=120 pace=15",
  "Ask the critic: What should a reader know about runs? words=120 pace=15",
].join("\n");

/** How many results each called agent has written when the service is killed. */
const killAfterItems = 20;
const lookEveryMs = 100;

/** Defines `demo team`. */
export function defineTeam(demo: Command): void {
  demo
    .command("team")
    .description("see an agent call two others, through kill -9")
    .addHelpText("after", example("runnel demo team"))
    .action((_, command: Command) => playScene(command, { keep: undefined, play: runTeam, conclude }));
}

interface TeamOutcome {
  readonly tree: readonly Run[];
  /** What each called agent wrote, as its reader has it. */
  readonly read: readonly (readonly Received[])[];
}

async function runTeam(place: DemoPlace): Promise<TeamOutcome> {
  await writeFile(join(place.home, "facts.txt"), "A call of an agent is a run.\nIts caller waits without a slot.\n");
  return await readOverKill(place, (url) => begin(url, place));
}

async function begin(url: string, { home, say }: DemoPlace): Promise<Reading<TeamOutcome>> {
  const service = connectTo(url);
  const sessions = service.client(SessionService);
  const { sessionId } = await sessions.createSession({ workDir: home, agent: editor });
  const { runId } = await sessions.sendMessage({ sessionId, message });
  say(`run     ${runId}: the editor asks its researcher and its critic\n`);
  const called = await waitForCalled(service, runId);
  const halves = called.map(() => Promise.withResolvers<void>());
  const reading = called.map(async ({ runId: id, agentName }, index) => {
    say(`${agentName.padEnd(11)} ${id}`);
    let items = 0;
    return await readOverGrpc(url, id, {
      onItem: () => {
        items += 1;
        if (items === killAfterItems) {
          halves[index]?.resolve();
        }
      },
      onResume: (_, after) => say(`${agentName} resumes after #${after}`),
    });
  });
  const whole = async (): Promise<TeamOutcome> => {
    const read = await Promise.all(reading);
    await readOverGrpc(url, runId, { onItem: () => {}, onResume: () => {} });
    return { tree: await readTree(service, runId), read };
  };
  return { half: Promise.all(halves.map(({ promise }) => promise)), whole: whole() };
}

/** Returns the two runs of the called agents once they are there. */
async function waitForCalled(service: ReturnType<typeof connectTo>, parentRunId: string): Promise<readonly Run[]> {
  for (;;) {
    const { runs } = await service.client(RunService).listRuns({ parentRunId });
    if (runs.length === editor.tools.agents.length) {
      return runs.toReversed();
    }
    await systemClock.sleep(lookEveryMs);
  }
}

/** Prints the tree. Throws PROMISE_BROKEN when a run is missing, doubled or not complete, or when a reader has a gap. */
async function conclude({ tree, read }: TeamOutcome, output: Output): Promise<void> {
  const isWhole =
    tree.length === editor.tools.agents.length + 1 &&
    tree.every(({ state }) => state === Run_State.COMPLETED) &&
    read.every((items) => items.every(({ sequence }, index) => sequence === index + 1));
  const runs = tree.map(({ runId, agentName, depth, output: said }) => ({ runId, agentName, depth, output: said }));
  await output.answer({ runs }, (paint) => {
    const table = showTree(tree, paint);
    return isWhole
      ? `${table}\n\n${paint(["green", "bold"], "✓ Each call has one run, and the editor has both results.")}`
      : table;
  });
  if (!isWhole) {
    throw new CommandError("a run of the tree was lost or doubled", { reason: "PROMISE_BROKEN" });
  }
}
