// The services behind one router: every call passes the gate, is bounded in time and checked against the contract, and
// what goes wrong is told in its terms.

import type { DescService } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { assertAccess } from "../platform/auth/caller.ts";
import { messageBytesMax } from "../platform/config/limits.ts";
import { createAuthService } from "./auth-service.ts";
import { createCallbackService } from "./callback-service.ts";
import { createDeadlineInterceptor } from "./deadline.ts";
import type { ServiceDeps } from "./deps.ts";
import { createErrorMapper, createFaultInterceptor, type ErrorMapper } from "./faults.ts";
import { createHealthService } from "./health-service.ts";
import { countRefusal, createMeasureInterceptor } from "./measure.ts";
import { part, type ServicePart } from "./protocol.ts";
import { createProviderService } from "./provider-service.ts";
import { createReceiptService } from "./receipt-service.ts";
import { createReflectionService } from "./reflection/reflection-service.ts";
import { createRunService } from "./run-service.ts";
import { createSessionService } from "./session-service.ts";
import { createSystemService } from "./system-service.ts";
import { createValidationInterceptor } from "./validation.ts";

/** The services that are there whatever the protocols are. */
export const coreServices = [
  SessionService,
  RunService,
  ReceiptService,
  CallbackService,
  AuthService,
  ProviderService,
  SystemService,
];

/** Compressing a stream's message costs each reader more than its bytes do; a large page of a list is worth it. */
const compressMinBytes = 65_536;
export interface RouterLimits {
  readonly readMaxBytes: number;
  readonly maxTimeoutMs: number;
}

/** A timeout is longer than any stream is kept open. */
export const routerLimits: RouterLimits = { readMaxBytes: messageBytesMax, maxTimeoutMs: 2 * 3_600_000 };

export interface RouterOptions {
  /** What protocols add. */
  readonly parts: readonly ServicePart[];
  /** All services of the contract that are served. */
  readonly services: readonly DescService[];
}

/** One router for each of the limits, over the same services: what a service counts, it counts for all of them. */
export function createRouters<const All extends readonly RouterLimits[]>(
  deps: ServiceDeps,
  options: RouterOptions,
  allLimits: All,
): { readonly [Each in keyof All]: ConnectRouter } {
  const parts = mergeParts([...createCore(deps), ...options.parts, ...createDiscovery(deps, options)]);
  const toError = createErrorMapper(deps.events, options.parts);
  const open = (limits: RouterLimits): ConnectRouter =>
    parts.reduce((router, { service, methods }) => router.service(service, methods), openRouter(deps, toError, limits));
  return allLimits.map(open) as { readonly [Each in keyof All]: ConnectRouter };
}

/** A router takes a service once, and several parts may have methods of it. */
function mergeParts(parts: readonly ServicePart[]): readonly ServicePart[] {
  return [...Map.groupBy(parts, ({ service }) => service)].map(([service, same]) => ({
    service,
    methods: Object.assign({}, ...same.map(({ methods }) => methods)),
  }));
}

function openRouter({ events, clock }: ServiceDeps, toError: ErrorMapper, limits: RouterLimits): ConnectRouter {
  return createConnectRouter({
    requestGate: ({ values, method }) => {
      try {
        assertAccess(values, method);
      } catch (error) {
        const refusal = toError(error, method);
        countRefusal(events, method, refusal);
        throw refusal;
      }
    },
    interceptors: [
      createMeasureInterceptor({ events, clock }),
      createFaultInterceptor(toError),
      createDeadlineInterceptor(clock),
      createValidationInterceptor(),
    ],
    acceptCompression: [compressionGzip, compressionBrotli],
    compressMinBytes,
    ...limits,
  });
}

function createCore(deps: ServiceDeps): readonly ServicePart[] {
  return [
    part(SessionService, createSessionService(deps)),
    part(RunService, createRunService(deps)),
    part(ReceiptService, createReceiptService(deps)),
    part(CallbackService, createCallbackService(deps)),
    part(AuthService, createAuthService(deps)),
    part(ProviderService, createProviderService(deps)),
    part(SystemService, createSystemService(deps)),
  ];
}

function createDiscovery(deps: ServiceDeps, { services }: RouterOptions): readonly ServicePart[] {
  const health = part(Health, createHealthService({ ...deps, services }));
  if (!deps.config.serverReflection) {
    return [health];
  }
  const reflection = createReflectionService({
    services: [...services, Health, ServerReflection, ServerReflectionV1Alpha],
    drain: deps.drain,
  });
  return [health, part(ServerReflection, reflection), part(ServerReflectionV1Alpha, reflection)];
}
