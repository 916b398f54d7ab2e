// CopilotKit's front end, straight against Runnel's routes, and with CopilotKit's runtime between them. npm installs its packages,
// as test/external/copilotkit pins them, into a folder of the test: 300 MB are too large for everybody who installs Runnel.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { HttpAgent } from "@ag-ui/client";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";
import { ask, setAgUiStage, textsOf } from "../ag-ui/stage.ts";
import { answer } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";

/** 350 packages, from a registry that may be slow. */
const installMaxMs = 600_000;

/** What the tests use of CopilotKit. */
interface CopilotKit {
  readonly ProxiedCopilotRuntimeAgent: new (config: object) => HttpAgent;
  readonly CopilotRuntime: new (options: object) => object;
  readonly InMemoryAgentRunner: new () => object;
  readonly createCopilotRuntimeHandler: (options: object) => (request: Request) => Promise<Response>;
  /** The client that CopilotKit brings. */
  readonly HttpAgent: typeof HttpAgent;
}

let kit: CopilotKit;

beforeAll(async () => {
  vi.stubEnv("COPILOTKIT_TELEMETRY_DISABLED", "true");
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  const folder = await mkdtemp(join(tmpdir(), "runnel-copilotkit-"));
  await cp(join(import.meta.dirname, "copilotkit"), folder, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  const load = createRequire(join(folder, "package.json"));
  kit = { ...load("@copilotkit/core"), ...load("@copilotkit/runtime/v2"), ...load("@ag-ui/client") };
  return async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  };
}, installMaxMs);

/** Starts CopilotKit's runtime in front of an agent, and returns its URL. */
async function startRuntime(url: string): Promise<string> {
  const agents = { default: new kit.HttpAgent({ url: `${url}/default`, headers: credentialsOf() }) };
  const runtime = new kit.CopilotRuntime({ agents, runner: new kit.InMemoryAgentRunner() });
  const handle = kit.createCopilotRuntimeHandler({ runtime, basePath: "/api" });
  const server = createServer(async (request, response) => {
    const { method = "GET", headers } = request;
    const body = method === "GET" ? {} : { body: Readable.toWeb(request), duplex: "half" };
    const init = { method, headers, ...body } as unknown as RequestInit;
    const answered = await handle(new Request(`http://runtime${request.url}`, init));
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    await pipeline(Readable.from(answered.body ?? []), response).catch(() => undefined);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await until("the runtime to listen", () => server.listening);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

const ways = [
  { way: "straight against Runnel", open: async (url: string) => url },
  { way: "with its runtime in front of Runnel", open: startRuntime },
];

describe.each(ways)("CopilotKit $way", ({ open }) => {
  async function setStage() {
    const stage = await setAgUiStage();
    const runtimeUrl = await open(`${stage.service.url}/v1/ag-ui`);
    const openAgent = (): HttpAgent => {
      const headers = credentialsOf();
      const agent = new kit.ProxiedCopilotRuntimeAgent({ runtimeUrl, agentId: "default", transport: "rest", headers });
      agent.threadId = "thread-1";
      return agent;
    };
    return { ...stage, openAgent };
  }

  test("runs, runs again in the thread, and connects to it", async () => {
    const { provider, openAgent } = await setStage();
    provider.respond(answer("one"), answer("two"));
    const agent = openAgent();
    ask(agent, "1");
    await agent.runAgent();
    ask(agent, "2");
    await agent.runAgent();
    const texts = [
      ["user", "1"],
      ["assistant", "one"],
      ["user", "2"],
      ["assistant", "two"],
    ];
    expect(textsOf(agent)).toEqual(texts);
    expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual(["1", "one", "2"]);
    const late = openAgent();
    await late.connectAgent();
    expect(textsOf(late)).toEqual(texts);
  });

  test("gets the error of a run that fails", async () => {
    const { provider, openAgent } = await setStage();
    provider.respond(fail(400, "bad request"));
    const agent = openAgent();
    ask(agent, "1");
    const errors: unknown[] = [];
    await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event) }).catch(() => undefined);
    expect(errors).toMatchObject([{ type: "RUN_ERROR", message: expect.stringContaining("bad request") }]);
  });
});
