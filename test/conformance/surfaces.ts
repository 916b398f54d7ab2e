// Every surface that the cases run over. One that is added here runs them all.

import type { TestService } from "../harness/service.ts";
import { connectGrpc } from "./grpc-surface.ts";
import { connectRest } from "./rest-surface.ts";
import type { Surface } from "./surface.ts";

export interface SurfaceKind {
  readonly name: string;
  /** Calls as the client of that id, or without saying who calls. */
  connect(service: TestService, clientId?: string): Surface;
}

export const surfaces: readonly SurfaceKind[] = [
  { name: "gRPC", connect: (service, clientId) => connectGrpc(service.target, clientHeaders(clientId)) },
  { name: "REST", connect: (service, clientId) => connectRest(service.url, clientHeaders(clientId)) },
];

function clientHeaders(clientId: string | undefined): Record<string, string> {
  return clientId === undefined ? {} : { "x-client-id": clientId };
}
