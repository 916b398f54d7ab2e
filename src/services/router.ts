// The services behind one router: every call is checked against the contract, and what goes wrong is told in its terms.

import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { messageBytesMax } from "../config/limits.ts";
import type { Events } from "../telemetry/events.ts";
import type { ServiceDeps } from "./deps.ts";
import { createFaultInterceptor } from "./faults.ts";
import { createRunService } from "./run-service.ts";
import { createSessionService } from "./session-service.ts";
import { createSystemService } from "./system-service.ts";
import { createValidationInterceptor } from "./validation.ts";

/** All services, for surfaces that read descriptors. */
export const services = [SessionService, RunService, SystemService] as const;

/** Compressing a stream's message costs each reader more than its bytes do; a large page of a list is worth it. */
const compressMinBytes = 65_536;
/** Longer than any stream is kept open. */
const timeoutMaxMs = 2 * 3_600_000;

export function createRouter(deps: ServiceDeps & { readonly events: Events }): ConnectRouter {
  return createConnectRouter({
    interceptors: [createFaultInterceptor(deps.events), createValidationInterceptor()],
    acceptCompression: [compressionGzip, compressionBrotli],
    compressMinBytes,
    readMaxBytes: messageBytesMax,
    maxTimeoutMs: timeoutMaxMs,
  })
    .service(SessionService, createSessionService(deps))
    .service(RunService, createRunService(deps))
    .service(SystemService, createSystemService(deps));
}
