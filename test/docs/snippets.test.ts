// The programs in code blocks of pages run as they are, with what their page assumes above them. Those in other languages: external/first-calls.

import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { startProgram } from "../external/program.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { startRun } from "../fault/cluster.ts";
import { openFolder } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { setRecipeStage } from "../recipes/stage.ts";
import { blockOf } from "./page-blocks.ts";

/** Each program loads a client library, on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 });

const key = keyOf();

/** Runs a program in TypeScript in a folder of its own and returns what it prints. */
async function run(code: string): Promise<string> {
  const folder = await openFolder();
  const file = join(folder, "page.ts");
  await writeFile(file, code);
  await symlink(join(repositoryRoot, "node_modules"), join(folder, "node_modules"));
  const ownClient = join(repositoryRoot, "test/recipes/own-client.js");
  const options = ["--import", ownClient, "--preserve-symlinks-main"];
  const { stdout, stderr, exitCode } = await startProgram(process.execPath, [...options, file], {
    environment: { RUNNEL_KEY: key, RUNNEL_API_KEY: key },
  }).finished;
  expect(exitCode, stderr).toBe(0);
  return stdout.toString();
}

test.each([
  ["docs/call/openai.md", "", "", "hello, reader\n"],
  ["docs/call/anthropic.md", "", "", "text: 'hello, reader'"],
  ["docs/call/a2a.md", `const key = "${key}";\n`, "", "hello, reader"],
  [
    "docs/call/ag-ui.md",
    `const key = "${key}";\n`,
    "\nconsole.log(agent.messages.at(-1)?.content);",
    "hello, reader\n",
  ],
])("%s", async (page, before, after, printed) => {
  const { provider, service } = await setRecipeStage();
  provider.respond(answer("hello, reader"));
  expect(await run(`${before}${blockOf(page, "ts", service.url)}${after}`)).toContain(printed);
});

test("docs/call/durable-streams.md", async () => {
  const { provider, service } = await setRecipeStage();
  provider.respond(answer("hello, reader"));
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "Hi");
  const printed = await run(
    `const [key, runId] = ["${key}", "${runId}"];\n${blockOf("docs/call/durable-streams.md", "ts", service.url)}`,
  );
  const { run: ended } = await client.call(RunService.method.getRun, { runId });
  expect(
    printed
      .trim()
      .split("\n")
      .filter((line) => /^\d/.test(line)),
  ).toHaveLength(Number(ended?.lastSequence));
});

/** Runs a block of the client's page in a session, and returns what it leaves in a variable. */
async function runInSession(url: string, block: number, variable: string): Promise<string> {
  const opening = `import { connect } from "@runnel/client";
const runnel = connect("${url}", { apiKey: "${key}" });
const { sessionId } = await runnel.sessions.createSession({ agent: { name: "adder" } });
`;
  const code = blockOf("clients/typescript/README.md", "ts", url, block);
  return await run(`${opening}${code}\nconsole.log(${variable});\nrunnel.close();\n`);
}

test("clients/typescript/README.md: functions", async () => {
  const { provider, service } = await setRecipeStage();
  provider.respond(callTools({ id: "c1", name: "add", arguments: '{"a":2,"b":40}' }), answer("42"));
  expect(await runInSession(service.url, 1, "text")).toBe("42\n");
  expect(provider.requests[1]?.body.messages.at(-1)).toMatchObject({ role: "tool", content: "42" });
});

test("clients/typescript/README.md: answers of a type", async () => {
  const { provider, service } = await setRecipeStage();
  provider.respond(answer('{"name":"Rome","people":2755000}'));
  expect(await runInSession(service.url, 2, "city.name, city.people + 1")).toBe("Rome 2755001\n");
  expect(provider.requests[0]?.body).toMatchObject({
    response_format: { json_schema: { strict: true, schema: { required: ["name", "people"] } } },
  });
});
