// A runner that is dialled: gRPC over a connection of its own, which leads only where callers may reach.
//
// D1  Each call has its own connection: no other runner and no other client shares it, and it ends with the call.
// D2  A peer that is gone is noticed though it says nothing: within 15 s it is asked for a sign of life, and has 10 s to give it.

import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { AgentRunnerService } from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import type { Egress } from "../../../platform/egress/post.ts";
import type { RunnerAddress } from "../storage/runner.ts";
import { messageBytesMax } from "./limits.ts";

export interface DialledRunner {
  readonly client: Client<typeof AgentRunnerService>;
  /** Ends the calls that are open. */
  close(): void;
}

export interface KeepAlive {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

const connectTimeoutMs = 10_000;
const keepAliveDefault: KeepAlive = { pingIntervalMs: 15_000, pingTimeoutMs: 10_000 };

/** The signal counts until the connection is there. Throws an EgressFailure. */
export async function dialRunner(
  egress: Pick<Egress, "connect">,
  { url, credential }: RunnerAddress,
  signal: AbortSignal,
  keepAlive = keepAliveDefault,
): Promise<DialledRunner> {
  const socket = await egress.connect({ url, what: "runner", timeoutMs: connectTimeoutMs, signal });
  const sessionManager = new Http2SessionManager(url, keepAlive, { createConnection: () => socket });
  const identify: Interceptor = (next) => async (request) => {
    if (credential !== null) {
      request.header.set("authorization", `Bearer ${credential}`);
    }
    return await next(request);
  };
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager,
    interceptors: [identify],
    readMaxBytes: messageBytesMax,
    // What is small on the wire stays small here.
    acceptCompression: [],
  });
  return {
    client: createClient(AgentRunnerService, transport),
    // Not by the manager's abort: on a connection that is just failing it takes away who would hear the failure, which then ends
    // the process.
    close: () => void socket.destroy(),
  };
}
