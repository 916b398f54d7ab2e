// The official conformance suite of MCP in both roles, its inspector and its TypeScript client, unmodified. npm installs them, as `packages` pins
// them, into a folder of the test.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { discoverOAuthServerInfo } from "@modelcontextprotocol/client";
import { beforeAll, expect, test, vi } from "vitest";
import { connect } from "../../../clients/typescript/src/index.ts";
import { runCommand } from "../../../scripts/run-command.ts";
import { readMcpServers } from "../../../src/platform/config/mcp-servers.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, startFakeProvider } from "../../fakes/provider.ts";
import { openFolder, openProvider } from "../../fixtures.ts";
import { credentialsOf, keyOf } from "../../harness/credentials.ts";
import { listenLocally } from "../../harness/listen.ts";
import { startService } from "../../harness/service.ts";
import { runProgram, startProgram } from "../program.ts";
import { offerFixtures } from "./fixtures.ts";

/** Two hundred packages, from a registry that may be slow. */
const installMaxMs = 600_000;
/** The suite waits for what does not come. Some of its checks wait for 600 ms, so a busy machine gets a second try. */
const suiteMaxMs = 300_000;

let folder: string;

beforeAll(async () => {
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  folder = await mkdtemp(join(tmpdir(), "runnel-mcp-"));
  await cp(join(import.meta.dirname, "packages"), folder, { recursive: true });
  // Not `npm ci`: the lock file lacks an optional package of the inspector for Windows, which npm leaves out of it.
  await runCommand("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  return async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  };
}, installMaxMs);

/** Runs the suite in one of its roles. It exits with 1 when it finds something else than the baseline lists. */
async function runSuite(role: "server" | "client", revision: string, subject: readonly string[]) {
  const suite = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const baseline = join(import.meta.dirname, `baseline-${revision}.yaml`);
  const args = [suite, role, ...subject, "--requirements", revision, "--expected-failures", baseline];
  const output = await mkdtemp(join(tmpdir(), "runnel-mcp-results-"));
  const { exitCode, stdout } = await startProgram(process.execPath, [...args, "-o", output]).finished;
  await rm(output, { recursive: true });
  expect(exitCode, stdout.toString().slice(-6_000)).toBe(0);
}

const revisions = ["2026-07-28", "2025-11-25"];
const suiteOptions = { timeout: suiteMaxMs, retry: 1 };

test.each(revisions)("the suite of %s finds at /mcp what the baseline lists", suiteOptions, async (revision) => {
  // The suite sends no key.
  const service = await startService({ authApiKeys: [], rateLimitRps: 0 }, { own: true });
  await offerFixtures(service);
  await runSuite("server", revision, ["--url", `${service.url}/mcp`]);
});

test.each(revisions)(
  "the suite of %s finds in agents with its servers what the baseline lists",
  suiteOptions,
  async (revision) => {
    await using provider = await startFakeProvider();
    const mayDial = { securityCallbackAllow: ["localhost@127.0.0.1/32", "localhost@::1/128"] };
    const flags = { ...modelFlags(provider), authApiKeys: [], rateLimitRps: 0, ...mayDial };
    const { url } = await startService(flags, { own: true });
    const program = join(import.meta.dirname, "suite-client.ts");
    // The suite starts some forty clients at once.
    await runSuite("client", revision, ["--timeout", "120000", "--command", `${process.execPath} ${program} ${url}`]);
  },
);

interface Credentials {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
}

/** Starts a service whose operator has looked up the server's endpoint, and runs an agent with the server. Returns the run's state. */
async function runWith(server: string, { client_id, client_secret, private_key_pem }: Credentials): Promise<string> {
  const { authorizationServerMetadata: found } = await discoverOAuthServerInfo(server);
  const proof =
    private_key_pem === undefined ? { client_secret } : { private_key: private_key_pem, issuer: found?.issuer };
  const oauth = { token_url: found?.token_endpoint, client_id, ...proof };
  const provider = await openProvider();
  const flags = {
    ...modelFlags(provider),
    mcpServers: readMcpServers(`srv=${JSON.stringify({ url: server, oauth })}`) ?? expect.fail("the line is valid"),
    securityCallbackAllow: ["localhost@127.0.0.1/32", "localhost@::1/128"],
  };
  const { url } = await startService(flags, { own: true });
  const client = connect(url, { apiKey: keyOf() });
  const { sessionId } = await client.sessions.createSession({
    agent: { name: "tester", tools: { mcp: [{ name: "srv" }] } },
  });
  const run = client.follow((await client.send(sessionId, "n=1")).runId);
  await Array.fromAsync(run);
  const { state, error } = await run.finish();
  client.close();
  return error || state;
}

test.each(["auth/client-credentials-jwt", "auth/client-credentials-basic"])(
  "the suite's scenario %s passes with a server of the settings",
  suiteOptions,
  async (scenario) => {
    const operator = createServer(async (request, response) => {
      const { server, context } = JSON.parse(await text(request));
      response.end(await runWith(server, context).catch(String));
    });
    const port = await listenLocally(operator);
    const program = join(import.meta.dirname, "suite-operator.ts");
    const suite = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
    const output = await openFolder();
    const command = `${process.execPath} ${program} http://127.0.0.1:${port}`;
    const args = [suite, "client", "--scenario", scenario, "--timeout", "120000", "--command", command, "-o", output];
    const { exitCode, stdout } = await startProgram(process.execPath, args).finished;
    expect(exitCode, stdout.toString().slice(-6_000)).toBe(0);
  },
);

test("the inspector lists and calls an agent", async () => {
  await using provider = await startFakeProvider();
  const { url } = await startService(modelFlags(provider), { own: true });
  provider.respond(answer("Paris"));
  const inspector = join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  const inspect = async (...args: readonly string[]) => {
    const key = `Authorization: Bearer ${keyOf()}`;
    const call = [inspector, "--cli", `${url}/mcp`, "--transport", "http", "--header", key, "--method", ...args];
    return JSON.parse((await runProgram(process.execPath, call, { environment: { HOME: folder } })).stdout.toString());
  };
  expect((await inspect("tools/list")).tools).toMatchObject([{ name: "default" }]);
  const called = await inspect("tools/call", "--tool-name", "default", "--tool-arg", "message=The capital of France?");
  expect(called.content).toEqual([{ type: "text", text: "Paris" }]);
});

test.each(["legacy", "auto"])("the TypeScript client lists and calls an agent, in its mode %s", async (mode) => {
  await using provider = await startFakeProvider();
  const { url } = await startService(modelFlags(provider), { own: true });
  provider.respond(answer("Paris"));
  const { Client, StreamableHTTPClientTransport } = createRequire(join(folder, "package.json"))(
    "@modelcontextprotocol/client",
  );
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: credentialsOf() };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  expect((await client.listTools()).tools).toMatchObject([{ name: "default" }]);
  const call = { name: "default", arguments: { message: "The capital of France?" } };
  const progress: number[] = [];
  const result = await client.callTool(call, {
    onprogress: (each: { progress: number }) => progress.push(each.progress),
  });
  expect(result.content).toEqual([{ type: "text", text: "Paris" }]);
  expect(progress.length).toBeGreaterThan(0);
  await client.close();
});
