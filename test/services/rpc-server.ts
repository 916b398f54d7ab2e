// Services behind the interceptors of the real router, on a port that speaks HTTP/2 as gRPC clients do.

import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { onTestFinished } from "vitest";
import { createErrorMapper, createFaultInterceptor } from "../../src/api/faults.ts";
import { createValidationInterceptor } from "../../src/api/validation.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";

export interface RpcServer {
  readonly url: string;
  /** host:port, as grpc-js wants it. */
  readonly target: string;
}

/** Starts a server that is closed with the test, together with the connections that are left then. */
export async function startRpcServer(routes: (router: ConnectRouter) => void): Promise<RpcServer> {
  const interceptors = [
    createFaultInterceptor(createErrorMapper(createEvents(createLogger("silent")), [])),
    createValidationInterceptor(),
  ];
  const server = createServer(connectNodeAdapter({ routes, interceptors }));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    for (const session of sessions) {
      session.destroy();
    }
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  const { port } = server.address() as AddressInfo;
  const target = `127.0.0.1:${port}`;
  return { url: `http://${target}`, target };
}
