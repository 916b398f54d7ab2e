// What the programs `tasks` and `webhook` of each library's README do: the same in every language.

import { connect } from "node:net";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelFlags } from "../../conformance/stage.ts";
import type { Script } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import type { Running } from "../program.ts";

/** Lines that `tasks` prints. */
export const tasksPrinted: readonly string[] = [
  "Paris",
  "4 messages",
  "the same run",
  "results from 3 on",
  "cancelled",
  "4 runs, 5 tokens in the first",
];

const city =
  (name: string): Script =>
  (wire) => {
    wire.text(JSON.stringify({ city: name }));
    wire.finish("stop");
    wire.usage({ prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 });
    wire.done();
  };

/** Starts the service that `tasks` calls. The last question has no answer. */
export async function startForTasks(): Promise<{ readonly url: string }> {
  const provider = await openProvider(city("Paris"), city("Madrid"), city("Rome"), (wire) => wire.hang());
  return await startService(modelFlags(provider));
}

const webhookPort = "8092";

/** A free port, and the code of `webhook` that listens there. */
export async function atFreePort(code: string): Promise<{ readonly port: number; readonly code: string }> {
  const [port = 0] = await findFreePorts(1);
  return { port, code: code.replace(webhookPort, String(port)) };
}

/** Returns what `webhook` prints of a callback, after a forged one. */
export async function callWebhook({ stdout }: Running, port: number): Promise<{ forged: number; printed: string }> {
  await until("the webhook to listen", () => isListening(port));
  const url = `http://127.0.0.1:${port}`;
  const headers = { "X-Timestamp": "1785542400", "X-Nonce": "5f0c2d7be1", "X-Signature": `sha256=${"0".repeat(64)}` };
  const forged = await fetch(`${url}/sessions/told/status`, { method: "POST", headers, body: "{}" });
  const service = await startService({ securityAllowPrivateNetworks: true });
  const callback = { baseUrl: url };
  const request = { sessionId: "told", agent: { name: "a" }, callback };
  await new GrpcClient(service.target).call(SessionService.method.createSession, request);
  await until("the callback", () => stdout().includes("\n"));
  return { forged: forged.status, printed: stdout() };
}

async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1");
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  const isOpen = await promise;
  socket.destroy();
  return isOpen;
}

/** What `callWebhook` returns. */
export const webhookTold = { forged: 401, printed: "told created\n" };
