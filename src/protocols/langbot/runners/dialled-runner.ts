// Connects to a dialled runner: gRPC over its own connection, which reaches only addresses that clients may call.
//
// D1  Each call has its own connection. No other runner or client shares it, and it ends with the call.
// D2  A lost peer is noticed even when it is silent: it gets a ping within 15 s, and has 10 s to answer.

import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { AgentRunnerService } from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import { messageBytesMax } from "../../../platform/config/limits.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import type { RunnerAddress } from "../storage/runner.ts";

/** A connected runner. */
export interface DialledRunner {
  readonly client: Client<typeof AgentRunnerService>;
  /** Closes the connection and ends the open calls. */
  close(): void;
}

/** The interval and the timeout of pings. */
export interface KeepAlive {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

const connectTimeoutMs = 10_000;
const keepAliveDefault: KeepAlive = { pingIntervalMs: 15_000, pingTimeoutMs: 10_000 };

/** Connects to a runner. The signal counts only until the connection is open. Throws EgressFailure when it cannot be opened. */
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
    // Without compression, a small message on the wire stays small in memory.
    acceptCompression: [],
  });
  return {
    client: createClient(AgentRunnerService, transport),
    // Not the manager's abort: on a failing connection it removes the listener of the error, which then ends the process.
    close: () => void socket.destroy(),
  };
}
