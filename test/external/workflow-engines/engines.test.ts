// The examples for workflow engines, with the engines' own libraries: a worker dies with kill -9 in mid-sentence, and the next attempt of the
// step gets the text of the same run.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import type { Script } from "../../fakes/provider.ts";
import { openCluster, openProvider } from "../../fault/cluster.ts";
import { authEnvironment, keyOf } from "../../harness/credentials.ts";
import { until } from "../../harness/wait.ts";
import { startProgram } from "../program.ts";

/** Temporal's library has 200 MB. */
const installMaxMs = 600_000;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "runnel-engines-"));
  await cp(join(import.meta.dirname, "packages"), folder, { recursive: true });
  await cp(join(import.meta.dirname, "temporal-attempt.js"), join(folder, "temporal-attempt.js"));
  await cp(join(repositoryRoot, "examples/workflow-engines"), folder, { recursive: true });
  const client = join(repositoryRoot, "clients/typescript");
  await runCommand("npm", ["pack", client, "--silent", "--pack-destination", folder]);
  await runCommand("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"]);
  const tarball = join(folder, "runnel-client-0.2.0.tgz");
  await runCommand("npm", ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", tarball]);
  return () => rm(folder, { recursive: true });
}, installMaxMs);

/** A service whose model waits in the middle of its sentence. */
async function setStage() {
  let goOn: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow: Script = async (wire) => {
    wire.text("The sky ");
    await held;
    wire.text("is blue.");
    wire.done("stop");
  };
  const { provider, environment } = await openProvider();
  provider.respond(slow);
  const cluster = await openCluster({ ...environment, ...authEnvironment });
  const { url, client } = await cluster.start();
  const system = new URL(cluster.databaseUrl);
  system.pathname += "_dbos";
  const start = (program: string, ...args: readonly string[]) =>
    startProgram(process.execPath, [program, ...args], {
      directory: folder,
      environment: { RUNNEL_URL: url, RUNNEL_API_KEY: keyOf(), DBOS_SYSTEM_DATABASE_URL: system.href },
    });
  return { provider, client, start, goOn: () => goOn?.() };
}

test.each([
  ["Temporal", ["temporal-attempt.js", "1"], ["temporal-attempt.js", "2"], "The sky is blue.\n"],
  ["DBOS", ["dbos.js", "w1", "sky"], ["dbos.js", "w1", "sky"], "# sky\n\nThe sky is blue.\n"],
])(
  "%s: the step of a dead worker follows the same run",
  async (_, [first = "", ...args], [next = "", ...again], text) => {
    const { provider, start, goOn } = await setStage();
    const dying = start(first, ...args);
    await until("the model to begin", () => provider.requests.length === 1);
    process.kill(dying.pid, "SIGKILL");
    await dying.finished;
    const successor = start(next, ...again);
    goOn();
    const { stdout, stderr } = await successor.finished;
    expect(stdout.toString(), stderr).toContain(text);
    expect(provider.requests).toHaveLength(1);
  },
);

test("Temporal: heartbeats say how far the run is, and a cancel of the activity cancels it", async () => {
  const { client, start } = await setStage();
  const { stderr } = await start("temporal-attempt.js", "1", "cancelled").finished;
  const { runId } = JSON.parse(stderr.slice(0, stderr.indexOf("\n")));
  await until("the run to be cancelled", async () => {
    const { run } = await client.call(RunService.method.getRun, { runId });
    return run?.state === Run_State.CANCELLED;
  });
});
