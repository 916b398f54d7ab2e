// The programs in examples/ that no other test runs.

import { execFile, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { modelFlags } from "../conformance/stage.ts";
import { answer, callTools, startFakeProvider } from "../fakes/provider.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";

const folder = join(repositoryRoot, "examples");

test.each([
  ["y", "used"],
  ["n", "rejected"],
])("approve.ts, answered with %s", async (typed, state) => {
  await using provider = await startFakeProvider();
  const service = await startService({ ...modelFlags(provider), authApiKeys: [] });
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: '{"path":"."}' }), answer("Done."));
  const child = spawn(process.execPath, [join(folder, "approve.ts")], {
    env: { ...process.env, URL: service.url },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.write(`${typed}\n`);
  const output = (await child.stdout.setEncoding("utf8").toArray()).join("");
  expect(output).toContain('May list_dir run with {"path":"."}? (y/n) ');
  expect(output).toMatch(/Done\.\n$/);
  const listed = await fetch(`${service.url}/v1/approvals`);
  expect(await listed.json()).toMatchObject({ approvals: [{ state }] });
});

test("resume/main.js prints the text of a run and how it ended", async () => {
  await using provider = await startFakeProvider();
  const service = await startService({ ...modelFlags(provider), authApiKeys: [] });
  provider.respond(answer("hello, reader"));
  const client = new GrpcClient(service.target, {});
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "a" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "go" });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "resume/main.js"), runId], {
    cwd: repositoryRoot,
    env: { ...process.env, TARGET: service.target },
  });
  expect(stdout).toBe("hello, reader\ncompleted\n");
});

test("the list names every example", () => {
  const list = readFileSync(join(folder, "README.md"), "utf8");
  const names = globSync("*", { cwd: folder }).filter((name) => name !== "README.md");
  expect(names.filter((name) => !list.includes(`](${name})`))).toEqual([]);
});
