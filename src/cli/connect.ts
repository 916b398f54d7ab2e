// The way of the commands to a service: gRPC over the public contract, like anybody else's.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";

export type SessionClient = ReturnType<typeof connectTo>["sessions"];
export type RunClient = ReturnType<typeof connectTo>["runs"];

export function connectTo(url: string) {
  const transport = createGrpcTransport({ baseUrl: url });
  return { sessions: createClient(SessionService, transport), runs: createClient(RunService, transport) };
}

/** Where the service is when nobody says: where `serve` and `dev` listen by default. */
export function defaultUrl(environment: Readonly<Record<string, string | undefined>>): string {
  const host = environment.RUNNEL_SERVER_HOST || "127.0.0.1";
  return `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${environment.RUNNEL_SERVER_PORT || "8090"}`;
}
