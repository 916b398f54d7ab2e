// Opens the handlers of all services, on one router and for callers in process. Every call passes the access check, gets a time
// limit and is validated against the contract, and every error is mapped to the contract's reasons.

import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type ContextValues, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { McpService } from "#gen/runnel/v1/mcp_service_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { UsageService } from "#gen/runnel/v1/usage_service_pb.js";
import { assertAccess } from "../platform/auth/caller.ts";
import { callTimeoutMsMax, createLocalMethods, type LocalMethods } from "../platform/base/local-methods.ts";
import { messageBytesMax, streamedMessageBytesMax } from "../platform/config/limits.ts";
import { createApprovalService } from "./approval-service.ts";
import { createAuthService } from "./auth-service.ts";
import { createCallbackService } from "./callback-service.ts";
import { createDeadlineInterceptor } from "./deadline.ts";
import type { ServiceDeps } from "./deps.ts";
import { createErrorMapper, createFaultInterceptor } from "./faults.ts";
import { createFileService } from "./file-service.ts";
import { createHealthService } from "./health-service.ts";
import { createMcpService } from "./mcp-service.ts";
import { countRefusal, createMeasureInterceptor } from "./measure.ts";
import { createMemoryService } from "./memory-service.ts";
import { part, type ServicePart } from "./protocol.ts";
import { createProviderService } from "./provider-service.ts";
import { createReceiptService } from "./receipt-service.ts";
import { createReflectionService } from "./reflection/reflection-service.ts";
import { createRunService } from "./run-service.ts";
import { createScheduleService } from "./schedule-service.ts";
import { createSessionService } from "./session-service.ts";
import { createSystemService } from "./system-service.ts";
import { createReadingInterceptor, passGate, refuseDamaged, refuseUnreadable } from "./unreadable.ts";
import { createUsageService } from "./usage-service.ts";
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
  FileService,
  MemoryService,
  McpService,
  ApprovalService,
  SystemService,
  UsageService,
];

/**
 * The minimum size of a compressed message. Compressing stream messages costs each reader more than their bytes do; for a large
 * page of a list it is worth it.
 */
const compressMinBytes = 65_536;

/** The limits of the router. */
export const routerLimits = { readMaxBytes: messageBytesMax, maxTimeoutMs: callTimeoutMsMax };

/** The parts and services that a router serves. */
export interface RouterOptions {
  /** The parts of protocols. */
  readonly parts: readonly ServicePart[];
  /** All services of the contract that this process serves. */
  readonly services: readonly DescService[];
}

/** The handlers of the contract: for callers over a wire, and for surfaces that call them in process. */
export interface Handlers {
  readonly handlers: readonly UniversalHandler[];
  readonly methods: LocalMethods;
}

/** Creates the handlers. Both forms have the same access check, interceptors and counters. */
export function createHandlers(deps: ServiceDeps, options: RouterOptions): Handlers {
  const parts = mergeParts([...createCore(deps), ...options.parts, ...createDiscovery(deps, options)]);
  const { events, clock } = deps;
  const toError = createErrorMapper(events, options.parts);
  const assertCallerAccess = (values: ContextValues, method: DescMethod): void => {
    try {
      assertAccess(values, method);
    } catch (error) {
      const refusal = toError(error, method);
      countRefusal(events, method, refusal);
      throw refusal;
    }
  };
  const interceptors = [
    createMeasureInterceptor({ events, clock }),
    createFaultInterceptor(toError),
    createReadingInterceptor(),
    createDeadlineInterceptor(clock),
    createValidationInterceptor(),
  ];
  const router = createConnectRouter({
    requestGate: (context) => {
      assertCallerAccess(context.values, context.method);
      passGate(context);
    },
    interceptors,
    acceptCompression: [compressionGzip, compressionBrotli].map(refuseDamaged),
    compressMinBytes,
    ...routerLimits,
  });
  for (const { service, methods } of parts) {
    const takesStreams = service.methods.some(
      ({ methodKind }) => methodKind === "bidi_streaming" || methodKind === "client_streaming",
    );
    router.service(service, methods, takesStreams ? { readMaxBytes: streamedMessageBytesMax } : undefined);
  }
  const handlers = router.handlers.map((handler) => refuseUnreadable(handler, toError));
  return { handlers, methods: createLocalMethods(parts, { assertAccess: assertCallerAccess, interceptors }) };
}

/** Merges the parts of each service: a router takes a service once, and several parts may have methods of it. */
function mergeParts(parts: readonly ServicePart[]): readonly ServicePart[] {
  return [...Map.groupBy(parts, ({ service }) => service)].map(([service, same]) => ({
    service,
    methods: Object.assign({}, ...same.map(({ methods }) => methods)),
  }));
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
    part(FileService, createFileService(deps)),
    part(MemoryService, createMemoryService(deps)),
    part(McpService, createMcpService(deps)),
    part(ApprovalService, createApprovalService(deps)),
    part(SystemService, createSystemService(deps)),
    part(UsageService, createUsageService(deps)),
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
