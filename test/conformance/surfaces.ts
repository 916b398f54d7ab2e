// Every surface over which the cases run. A surface that is added here runs all of them.

import type { Transport } from "@connectrpc/connect";
import { credentialsOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";
import { connectSurface } from "./connect-surface.ts";
import { connectEventSource } from "./event-source-surface.ts";
import { connectGrpc } from "./grpc-surface.ts";
import { connectRest } from "./rest-surface.ts";
import type { Surface } from "./surface.ts";
import {
  connectFetchTransport,
  connectHttp2Transport,
  connectJsonTransport,
  grpcWebFetchTransport,
  grpcWebTransport,
} from "./transports.ts";

export interface SurfaceKind {
  readonly name: string;
  /** True when the service serves its streams by their handlers instead of as feeds. */
  readonly plainStreams?: boolean;
  /** Calls with the credentials of that client; by default with those of the tests' own client. */
  connect(service: TestService, clientId?: string): Surface;
}

export const surfaces: readonly SurfaceKind[] = [
  { name: "gRPC", connect: (service, clientId) => connectGrpc(service.target, credentialsOf(clientId)) },
  { name: "REST", connect: (service, clientId) => connectRest(service.url, credentialsOf(clientId)) },
  { name: "EventSource", connect: (service, clientId) => connectEventSource(service.url, credentialsOf(clientId)) },
  connectClient("Connect, HTTP/2", connectHttp2Transport),
  connectClient("Connect, HTTP/1.1, JSON", connectJsonTransport),
  connectClient("gRPC-Web, HTTP/1.1", grpcWebTransport),
  connectClient("Connect by fetch, GET", connectFetchTransport),
  connectClient("gRPC-Web by fetch, JSON", grpcWebFetchTransport),
];

/**
 * The same surfaces on a service without feeds, which must look the same to callers: one surface for each way in which a
 * handler is called.
 */
export const surfacesWithoutFeeds: readonly SurfaceKind[] = ["gRPC", "REST", "gRPC-Web, HTTP/1.1"].map((name) =>
  withoutFeeds(findSurface(name)),
);

export function withoutFeeds(kind: SurfaceKind): SurfaceKind {
  return { ...kind, name: `${kind.name}, without feeds`, plainStreams: true };
}

export function findSurface(name: string): SurfaceKind {
  const kind = surfaces.find((each) => each.name === name);
  if (kind === undefined) {
    throw new Error(`no surface ${name}`);
  }
  return kind;
}

function connectClient(name: string, openTransport: (baseUrl: string) => Transport): SurfaceKind {
  return {
    name,
    connect: (service, clientId) => connectSurface(openTransport(service.url), credentialsOf(clientId)),
  };
}
