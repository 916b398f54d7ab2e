// The example of clients/typescript/runners.md, unchanged, as a program of its own.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { openFolder } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { bind, getRun, readLog, start } from "./hand-worker.ts";

const folderOfClient = new URL("../../clients/typescript/", import.meta.url);
const entry = new URL("src/worker/index.ts", folderOfClient);

async function writeExample(): Promise<string> {
  const page = await readFile(new URL("runners.md", folderOfClient), "utf8");
  const [, example = ""] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const folder = await openFolder();
  const file = join(folder, "my-runner.ts");
  await writeFile(file, example.replace("@runnel/client/worker", entry.href));
  return file;
}

test("the example answers with a model's text, remembers, and ends on SIGTERM", async () => {
  const { url, target } = await startService();
  const environment = { PATH: process.env.PATH, RUNNEL_URL: url, RUNNEL_API_KEY: keyOf() };
  const program = spawn(process.execPath, [await writeExample()], { env: environment });
  onTestFinished(() => {
    program.kill("SIGKILL");
  });
  let said = "";
  program.stderr.on("data", (text: Buffer) => {
    said += text;
  });
  const client = new GrpcClient(target);
  const runnerId = await until("the runner", async () => {
    const { runners } = await client.call(RunnerService.method.listRunners, {});
    return runners.find(({ state }) => state === Runner_State.AVAILABLE)?.runnerId;
  }).catch((cause: unknown) => {
    throw new Error(said, { cause });
  });
  await bind(client, { runnerId, resourcePolicy: { allowedModels: ["demo"] } });
  for (const count of [1, 2]) {
    const runId = await start(client, { input: { text: "words=3 pace=0" } });
    await readLog(client, runId);
    expect(await getRun(client, runId)).toMatchObject({
      state: Run_State.COMPLETED,
      output: `This is the (answer ${count})`,
    });
  }
  program.kill("SIGTERM");
  await until("its end", () => program.exitCode !== null);
  expect([program.exitCode, said]).toEqual([0, ""]);
});
