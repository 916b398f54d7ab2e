// The adapters of the Python client for LangChain and Pydantic AI, with the packages of PyPI, in an empty environment.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { answer, callTools, type FakeProvider, type Script } from "../fakes/provider.ts";
import { openCluster, openProvider } from "../fault/cluster.ts";
import { keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startMortalService, wholeText } from "./clients/killed-service.ts";
import { runProgram, startProgram } from "./program.ts";
import { type Environment, makeEnvironment } from "./runners/environment.ts";

const python = inject("python");
const client = join(repositoryRoot, "clients/python");
const program = join(import.meta.dirname, "python-client/adapters.py");
const packages = ["langchain-core==1.8.3", "pydantic-ai-slim==2.68.0"];
/** pip downloads 30 MB. */
const longMs = 600_000;

const remember = callTools({
  id: "m-1",
  name: "memory_write",
  arguments: '{"scope":"session","key":"k","content":"v"}',
});
const add = callTools({ id: "a-1", name: "add", arguments: '{"a":2,"b":3}' });

describe.skipIf(python === "")("the adapters of the Python client", { timeout: longMs }, () => {
  let place: Environment;
  beforeAll(async () => {
    place = await makeEnvironment();
    await place.install(`${client}[langchain,pydantic-ai]`, ...packages);
  }, longMs);
  afterAll(() => place.remove());

  const environment = { RUNNEL_API_KEY: keyOf() };
  const start = (path: string, ...words: readonly string[]) =>
    startProgram(place.program("python"), [path, ...words], { environment });

  async function run(path: string, ...words: readonly string[]): Promise<string[]> {
    const { stdout, stderr, exitCode } = await start(path, ...words).finished;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout.toString().trimEnd().split("\n");
  }

  async function openService(...scripts: readonly Script[]): Promise<{ url: string; provider: FakeProvider }> {
    const { provider, environment: settings } = await openProvider();
    provider.respond(...scripts);
    const { url } = await (await openCluster(settings)).start();
    return { url, provider };
  }

  /** Writes a program of the README for the service at `url`. */
  function writeExample(name: string, url: string): string {
    const blocks = [...readFileSync(join(client, "README.md"), "utf8").matchAll(/```python\n([\s\S]*?)```/g)];
    const [, code = ""] = blocks.find(([, each]) => each?.startsWith(`# ${name}\n`)) ?? expect.unreachable(name);
    const path = join(place.folder, name);
    writeFileSync(path, code.replace("http://127.0.0.1:8090", url));
    return path;
  }

  test("please mypy with the types of both packages", async () => {
    const files = ["langchain.py", "pydantic_ai.py"].map((name) => join(client, "runnel_client", name));
    const examples = ["chain.py", "city.py", "agent.py"].map((name) => writeExample(name, "http://127.0.0.1:8090"));
    const words = ["--config-file", join(client, "pyproject.toml"), "--cache-dir", "/dev/null"];
    const own = ["--ignore-missing-imports", "--python-executable", place.program("python")];
    await runProgram(python, ["-m", "mypy", ...words, ...own, ...files, ...examples, program], {
      environment: { MYPYPATH: client },
    });
  });

  test("LangChain: the program of the README calls its tool, and streams the answer", async () => {
    const { url, provider } = await openService(add, answer("It is 5."));
    expect(await run(writeExample("chain.py", url))).toEqual(["It is 5."]);
    expect(provider.requests[1]?.body.messages.slice(-2)).toMatchObject([
      { role: "assistant", tool_calls: [{ id: "a-1" }] },
      { role: "tool", tool_call_id: "a-1", content: "5" },
    ]);
  });

  test("LangChain: each way to call shows the tools that the service runs", async () => {
    const ways = 4;
    const { url } = await openService(...Array.from({ length: ways }, () => [remember, answer("Kept.")]).flat());
    const message = "server_tool_call server_tool_result text Kept. 0 stop";
    expect(await run(program, "langchain_blocks", url)).toEqual(Array.from({ length: ways }, () => message));
  });

  test("LangChain: an answer has the caller's type", async () => {
    const { url } = await openService(callTools({ id: "c-1", name: "City", arguments: '{"name":"Rome","people":2}' }));
    expect(await run(program, "langchain_output", url)).toEqual(["City(name='Rome', people=2)"]);
  });

  test.each(["city.py", "agent.py"])("%s of the README gets an answer of its type", async (name) => {
    const { url, provider } = await openService(answer('{"name":"Rome","people":2755000}'));
    expect(await run(writeExample(name, url))).toEqual(["City(name='Rome', people=2755000)"]);
    expect(provider.requests[0]?.body).toMatchObject({ response_format: { type: "json_schema" } });
  });

  test("Pydantic AI: its tools and those of the service run, with and without a stream", async () => {
    const { url, provider } = await openService(remember, add, answer("5."), remember, add, answer("5."));
    const parts = "user-prompt builtin-tool-call builtin-tool-return tool-call tool-return text";
    expect(await run(program, "pydantic_tools", url)).toEqual([`5. ${parts}`, `5. ${parts}`]);
    expect(provider.requests[0]?.body.messages[0]).toMatchObject({ role: "system", content: "Be brief." });
  });

  test.each(["langchain", "pydantic"])(
    "%s: a death in mid-sentence ends a stream, and the run is read",
    async (name) => {
      const service = await startMortalService();
      const reader = start(program, `${name}_restart`, service.url);
      await service.killWhen("text at the reader", () => reader.stdout().includes("A whole answer"));
      const { stdout, stderr, exitCode } = await reader.finished;
      expect(exitCode, stderr).toBe(0);
      const lines = stdout.toString().trimEnd().split("\n");
      expect(lines.join("\n")).toContain("run_restarted");
      expect(lines.at(-1)).toContain(wholeText);
    },
  );

  test.each(["langchain", "pydantic"])("%s: a call without a stream has the whole text", async (name) => {
    const service = await startMortalService();
    const reader = start(program, `${name}_whole`, service.url);
    await service.killWhen("text in the log", () => hasText(service.url));
    expect((await reader.finished).stdout.toString()).toBe(`${wholeText}\n`);
  });
});

async function hasText(url: string): Promise<boolean> {
  const client = new GrpcClient(new URL(url).host);
  const { runs } = await client.call(RunService.method.listRuns, {});
  const [run] = runs;
  const { results } =
    run === undefined ? { results: [] } : await client.call(RunService.method.listRunResults, { runId: run.runId });
  return results.some(({ payload }) => payload.case === "messageDelta");
}
