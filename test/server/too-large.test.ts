// A body that is too large: its sender gets the answer every time, also while it is still sending.

import http from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { type ServiceProcess, startProcess } from "../harness/process.ts";

/** Over 10 MiB, the limit, and more than the buffers of a connection hold. */
const body = Buffer.alloc(11 * 1_048_576, "x");
const timesEach = 40;
const timeoutMs = 180_000;

interface Client {
  readonly name: string;
  /** Resolves with the answer, or with the reason of its absence. */
  readonly post: (url: string, agent: http.Agent) => Promise<string>;
  readonly keepAlive?: boolean;
}

const clients: readonly Client[] = [
  { name: "http.request", post: (url, agent) => post(url, agent, { "content-length": body.byteLength }) },
  {
    name: "http.request that keeps its connection",
    post: (url, agent) => post(url, agent, { "content-length": body.byteLength }),
    keepAlive: true,
  },
  { name: "http.request without a length", post: (url, agent) => post(url, agent, {}) },
  { name: "fetch", post: (url) => postByFetch(url, {}) },
  { name: "fetch that closes its connection", post: (url) => postByFetch(url, { connection: "close" }) },
];

// In a process of its own, because a client in the same process never sends while the service answers.
test("every sender of a body over the limit gets 413", { timeout: timeoutMs }, async () => {
  const service = await startProcess({ DATABASE_URL: await testDatabase() });
  for (const client of clients) {
    expect(await answersOf(service, client), client.name).toEqual([
      "413 the request body is larger than 10485760 bytes",
    ]);
  }
});

/** Returns the different answers of all its calls. */
async function answersOf({ url }: ServiceProcess, { post: send, keepAlive = false }: Client): Promise<string[]> {
  const agent = new http.Agent({ keepAlive });
  onTestFinished(() => agent.destroy());
  const answers = new Set<string>();
  for (let count = 0; count < timesEach; count += 1) {
    answers.add(await send(`${url}/v1/sessions`, agent));
  }
  return [...answers];
}

/** Node's own client fails when the connection breaks before it has read the answer. */
async function post(url: string, agent: http.Agent, headers: http.OutgoingHttpHeaders): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = http.request(url, { agent, method: "POST", headers: { ...credentialsOf(), ...headers } }, resolve);
  request.on("error", reject);
  request.end(body);
  try {
    const response = await promise;
    return describeAnswer(response.statusCode, await text(response));
  } catch (error) {
    return String(error);
  }
}

async function postByFetch(url: string, headers: Record<string, string>): Promise<string> {
  try {
    const response = await fetch(url, { method: "POST", headers: { ...credentialsOf(), ...headers }, body });
    return describeAnswer(response.status, await response.text());
  } catch (error) {
    return `${error}: ${(error as Error).cause}`;
  }
}

function describeAnswer(status: number | undefined, json: string): string {
  return `${status} ${(JSON.parse(json) as { error: string }).error}`;
}
