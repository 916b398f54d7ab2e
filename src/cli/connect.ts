// The way of the commands to a service: gRPC over the public contract, like anybody else's.

import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { createCredentials } from "./credentials.ts";

export type SessionClient = ReturnType<typeof connectTo>["sessions"];
export type RunClient = ReturnType<typeof connectTo>["runs"];

export function connectTo(url: string, credentials?: Interceptor) {
  const transport = createGrpcTransport({ baseUrl: url, interceptors: credentials === undefined ? [] : [credentials] });
  return { sessions: createClient(SessionService, transport), runs: createClient(RunService, transport) };
}

/** Where the service is when nobody says: where `serve` and `dev` listen by default. */
export function defaultUrl(environment: Readonly<Record<string, string | undefined>>): string {
  const host = environment.RUNNEL_SERVER_HOST || "127.0.0.1";
  return `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${environment.RUNNEL_SERVER_PORT || "8090"}`;
}

/** True for what a Runnel service says; without a reason the way to it is in trouble, or something else is there. */
export function isExplained(error: ConnectError): boolean {
  return error.findDetails(ErrorInfoSchema).length > 0;
}

/** Does what needs the service at `url`; when nothing of ours answers there, the failure says so and what to do. */
export async function withService<T>(
  url: string,
  work: (service: ReturnType<typeof connectTo>) => Promise<T>,
): Promise<T> {
  try {
    return await work(connectTo(url, createCredentials(process.env)));
  } catch (error) {
    if (!(error instanceof ConnectError) || isExplained(error)) {
      throw error;
    }
    const fix = "start one with `runnel serve` or `runnel dev`, or say with --url where it is";
    throw new ConnectError(`no service at ${url} (${error.rawMessage}): ${fix}`, Code.Unavailable);
  }
}
