// The services behind one router: every call passes the gate, is bounded in time and checked against the contract, and
// what goes wrong is told in its terms.

import type { DescService } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { HostService } from "#gen/runnel/host/v1/host_service_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { DecisionService } from "#gen/runnel/v1/decision_service_pb.js";
import { ExchangeService } from "#gen/runnel/v1/exchange_service_pb.js";
import { ForumAdminService } from "#gen/runnel/v1/forum_admin_service_pb.js";
import { ForumService } from "#gen/runnel/v1/forum_service_pb.js";
import { JobService } from "#gen/runnel/v1/job_service_pb.js";
import { KnowledgeService } from "#gen/runnel/v1/knowledge_service_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { RunnerService } from "#gen/runnel/v1/runner_service_pb.js";
import { RunnerWorkerService } from "#gen/runnel/v1/runner_worker_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { TrustService } from "#gen/runnel/v1/trust_service_pb.js";
import { assertAccess } from "../platform/auth/caller.ts";
import { messageBytesMax } from "../platform/config/limits.ts";
import { createDecisionService } from "../protocols/community/handlers/decision-service.ts";
import { createForumAdminService } from "../protocols/community/handlers/forum-admin-service.ts";
import { createForumService } from "../protocols/community/handlers/forum-service.ts";
import { createExchangeService } from "../protocols/exchange/handlers/exchange-service.ts";
import { createJobService } from "../protocols/jobspec/handlers/job-service.ts";
import { createTrustService } from "../protocols/jobspec/handlers/trust-service.ts";
import { createApprovalService } from "../protocols/langbot/handlers/approval-service.ts";
import { createHostService } from "../protocols/langbot/handlers/host-service.ts";
import { createKnowledgeService } from "../protocols/langbot/handlers/knowledge-service.ts";
import { createRunnerService } from "../protocols/langbot/handlers/runner-service.ts";
import { createRunnerWorkerService } from "../protocols/langbot/handlers/runner-worker-service.ts";
import { createAuthService } from "./auth-service.ts";
import { createCallbackService } from "./callback-service.ts";
import { createDeadlineInterceptor } from "./deadline.ts";
import type { ServiceDeps } from "./deps.ts";
import { createFaultInterceptor, toConnectError } from "./faults.ts";
import { createHealthService } from "./health-service.ts";
import { countRefusal, createMeasureInterceptor } from "./measure.ts";
import { createProviderService } from "./provider-service.ts";
import { createReflectionService } from "./reflection/reflection-service.ts";
import { createRunService } from "./run-service.ts";
import { createSessionService } from "./session-service.ts";
import { createSystemService } from "./system-service.ts";
import { createValidationInterceptor } from "./validation.ts";

/** The services of the contract, for surfaces that read descriptors. */
export const services = [
  SessionService,
  RunService,
  RunnerService,
  RunnerWorkerService,
  ApprovalService,
  CallbackService,
  JobService,
  TrustService,
  AuthService,
  KnowledgeService,
  ExchangeService,
  ProviderService,
  ForumService,
  ForumAdminService,
  DecisionService,
  SystemService,
  HostService,
] as const;

/** Compressing a stream's message costs each reader more than its bytes do; a large page of a list is worth it. */
const compressMinBytes = 65_536;
export interface RouterLimits {
  readonly readMaxBytes: number;
  readonly maxTimeoutMs: number;
}

/** A timeout is longer than any stream is kept open. */
export const routerLimits: RouterLimits = { readMaxBytes: messageBytesMax, maxTimeoutMs: 2 * 3_600_000 };

/** One router for each of the limits, over the same services: what a service counts, it counts for all of them. */
export function createRouters<const All extends readonly RouterLimits[]>(
  deps: ServiceDeps,
  allLimits: All,
): { readonly [Each in keyof All]: ConnectRouter } {
  const parts = createServices(deps);
  const open = (limits: RouterLimits): ConnectRouter =>
    parts.reduce((router, addTo) => addTo(router), openRouter(deps, limits));
  return allLimits.map(open) as { readonly [Each in keyof All]: ConnectRouter };
}

function openRouter({ events, clock }: ServiceDeps, limits: RouterLimits): ConnectRouter {
  return createConnectRouter({
    requestGate: ({ values, method }) => {
      try {
        assertAccess(values, method);
      } catch (error) {
        const refusal = toConnectError(error, method, events);
        countRefusal(events, method, refusal);
        throw refusal;
      }
    },
    interceptors: [
      createMeasureInterceptor({ events, clock }),
      createFaultInterceptor(events),
      createDeadlineInterceptor(clock),
      createValidationInterceptor(),
    ],
    acceptCompression: [compressionGzip, compressionBrotli],
    compressMinBytes,
    ...limits,
  });
}

type Part = (router: ConnectRouter) => ConnectRouter;

function createServices(deps: ServiceDeps): readonly Part[] {
  const parts = [
    part(SessionService, createSessionService(deps)),
    part(RunService, createRunService(deps)),
    part(RunnerService, createRunnerService(deps)),
    part(RunnerWorkerService, createRunnerWorkerService(deps)),
    part(ApprovalService, createApprovalService(deps)),
    part(CallbackService, createCallbackService(deps)),
    part(JobService, createJobService(deps)),
    part(TrustService, createTrustService(deps)),
    part(AuthService, createAuthService(deps)),
    part(KnowledgeService, createKnowledgeService(deps)),
    part(ExchangeService, createExchangeService(deps)),
    part(ProviderService, createProviderService(deps)),
    part(ForumService, createForumService(deps)),
    part(ForumAdminService, createForumAdminService(deps)),
    part(DecisionService, createDecisionService(deps)),
    part(SystemService, createSystemService(deps)),
    part(HostService, createHostService(deps)),
    part(Health, createHealthService({ ...deps, services })),
  ];
  if (!deps.config.serverReflection) {
    return parts;
  }
  const reflection = createReflectionService({
    services: [...services, Health, ServerReflection, ServerReflectionV1Alpha],
    drain: deps.drain,
  });
  return [...parts, part(ServerReflection, reflection), part(ServerReflectionV1Alpha, reflection)];
}

function part<Desc extends DescService>(service: Desc, implementation: Partial<ServiceImpl<Desc>>): Part {
  return (router) => router.service(service, implementation);
}
