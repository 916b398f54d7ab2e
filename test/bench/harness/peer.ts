// Another service of the Agent Runner document, to measure the same work on both: `PEER_BIN` is the path of its program. The
// original is built from its public repository, `ginkida/agent-runner`, with a provider whose base URL comes from
// OPENAI_BASE_URL.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Child } from "./child.ts";
import { benchKey } from "./credentials.ts";

const readyPollMs = 20;
const readyTimeoutMs = 30_000;

/** Starts the peer on a free port, with its limits lifted and its callbacks off. Resolves when it answers. */
export async function startPeer(program: string, providerUrl: string): Promise<Child> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-peer-"));
  const config = join(folder, "config.yaml");
  await writeFile(config, 'callback:\n  base_url: ""\n');
  const port = await findFreePort();
  const child = spawn(program, ["--config", config], {
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      AGENT_RUNNER_SERVER_HOST: "127.0.0.1",
      AGENT_RUNNER_SERVER_PORT: String(port),
      AGENT_RUNNER_AUTH_HMAC_SECRET: benchKey,
      AGENT_RUNNER_PROVIDERS_OPENAI_KEY: "bench",
      AGENT_RUNNER_RATELIMIT_RPS: "1000000",
      AGENT_RUNNER_RATELIMIT_BURST: "1000000",
      AGENT_RUNNER_SESSIONS_MAX_CONCURRENT: "0",
      OPENAI_BASE_URL: `${providerUrl}/v1`,
    },
  });
  const exited = once(child, "exit");
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilHealthy(url);
    return { pid: child.pid ?? 0, url, end, [Symbol.asyncDispose]: () => end("SIGTERM") };
  } catch (error) {
    await end("SIGKILL");
    throw error;
  }
}

async function untilHealthy(url: string): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const isHealthy = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) {
      return;
    }
    if (performance.now() - startedMs > readyTimeoutMs) {
      throw new Error("the peer does not answer GET /health");
    }
    await delay(readyPollMs);
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
