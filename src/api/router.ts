// Registers all services on one router. Every call passes the access check, gets a time limit and is validated against the
// contract, and every error is mapped to the contract's reasons.

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
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
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
import { createScheduleService } from "./schedule-service.ts";
import { createSessionService } from "./session-service.ts";
import { createSystemService } from "./system-service.ts";
import { createValidationInterceptor } from "./validation.ts";

/** The services that do not depend on protocols. */
export const coreServices = [
  SessionService,
  RunService,
  ReceiptService,
  CallbackService,
  AuthService,
  ProviderService,
  ScheduleService,
  SystemService,
];

/**
 * The minimum size of a compressed message. Compressing stream messages costs each reader more than their bytes do; for a large
 * page of a list it is worth it.
 */
const compressMinBytes = 65_536;

/** The limits of a router: the size of a request message in bytes, and the longest timeout that a caller may ask for, in ms. */
export interface RouterLimits {
  readonly readMaxBytes: number;
  readonly maxTimeoutMs: number;
}

/** The limits of the public router. The maximum timeout is longer than any stream stays open. */
export const routerLimits: RouterLimits = { readMaxBytes: messageBytesMax, maxTimeoutMs: 2 * 3_600_000 };

/** The parts and services that a router serves. */
export interface RouterOptions {
  /** The parts of protocols. */
  readonly parts: readonly ServicePart[];
  /** All services of the contract that this process serves. */
  readonly services: readonly DescService[];
}

/**
 * Creates one router for each of the limits, over the same handlers: counters of a service include the calls of all routers.
 */
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

/** Merges the parts of each service: a router takes a service once, and several parts may have methods of it. */
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
    part(ScheduleService, createScheduleService(deps)),
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
