// A remote runner that the service dials: a gRPC server that is independent of our SDK. It sends exactly what a test scripts,
// also messages that no SDK would send.

import { once } from "node:events";
import { createServer, type Http2ServerRequest } from "node:http2";
import { connect } from "node:net";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  AgentRunnerService,
  type RunAgentRequest,
  type RunAgentResponseSchema,
} from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import { listenLocally } from "../harness/listen.ts";
import { openWire, type Wire } from "../harness/wire.ts";
import { runnerOf } from "../harness/worker.ts";

export type Said = MessageInitShape<typeof RunAgentResponseSchema>;

export interface Call {
  readonly request: RunAgentRequest;
  readonly headers: Headers;
  /** Aborts when the host has hung up. */
  readonly signal: AbortSignal;
}

export type Act = (call: Call) => AsyncIterable<Said>;

export interface FakeRunner {
  readonly url: string;
  readonly calls: readonly Call[];
  /** The number of connections that it has accepted. */
  readonly connections: number;
  /** The wire between the runner and the service. */
  readonly wire: Wire;
  manifests: readonly string[];
  era: string;
  /** The expected credential; undefined accepts any. */
  credential: string | undefined;
  act: Act;
}

/** Opens a runner that ends with the test. */
export async function openFakeRunner(act: Act): Promise<FakeRunner> {
  const calls: Call[] = [];
  let connections = 0;
  const handler = connectNodeAdapter({
    routes: (router) =>
      router.service(AgentRunnerService, {
        listAgentRunners: () => ({ manifests: [...fake.manifests], era: fake.era }),
        async *runAgent(request, { requestHeader: headers, signal }) {
          const call = { request, headers, signal };
          calls.push(call);
          yield* fake.act(call);
        },
      }),
    interceptors: [
      (next) => async (request) => {
        const given = request.header.get("authorization");
        if (fake.credential !== undefined && given !== `Bearer ${fake.credential}`) {
          throw new ConnectError("that is not the word", Code.Unauthenticated);
        }
        return await next(request);
      },
    ],
  });
  const server = createServer(handler);
  server.on("session", () => connections++);
  server.on("request", ({ stream }: Http2ServerRequest) => stream.on("error", () => {}));
  const port = await listenLocally(server);
  const wire = await openWire({ connectFar: () => connect(port, "127.0.0.1") });
  const fake: FakeRunner = {
    url: `http://127.0.0.1:${wire.port}`,
    calls,
    get connections() {
      return connections;
    },
    wire,
    manifests: [JSON.stringify(runnerOf(async function* () {}).manifest)],
    era: "",
    credential: undefined,
    act,
  };
  return fake;
}

/** Returns a result in its wire format. */
export function say(type: string, data: object, more: Partial<Said> = {}): Said {
  return { type, data: JSON.stringify(data), ...more } as Said;
}

export function sayPiece(content: string, more: Partial<Said> = {}): Said {
  return say("message.delta", { chunk: { role: "assistant", content } }, more);
}

export function sayDone(more: Partial<Said> = {}): Said {
  return say("run.completed", { finish_reason: "stop" }, more);
}

/** Resolves when the host has hung up. */
export async function hungUp(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await once(signal, "abort");
  }
}
