// A service with a runner and a binding, for tests of runs that events start.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import type { BindingSchema } from "#gen/runnel/runner/v1/binding_pb.js";
import type { AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { test as base } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { greedyManifest, runnerId } from "../runners/manifests.ts";

export type EventInit = Extract<MessageInitShape<typeof AgentEventSchema>, { readonly $typeName?: never }>;
export type BindingInit = Extract<MessageInitShape<typeof BindingSchema>, { readonly $typeName?: never }>;

export async function openRunnerStage(flags: Partial<Config> = {}) {
  const service = await startService(flags);
  const client = new GrpcClient(service.target);
  const stranger = new GrpcClient(service.target, credentialsOf("stranger"));
  return {
    service,
    client,
    stranger,
    register: (manifests: readonly string[] = [greedyManifest], workerId = "worker", era = "spec") =>
      client.call(RunnerService.method.registerRunners, { workerId, manifests: [...manifests], era }),
    put: async (binding: BindingInit = {}) =>
      (await client.call(RunnerService.method.putBinding, { binding: { bindingId: "b", runnerId, ...binding } }))
        .binding,
    start: async (event: EventInit = {}, requestId = "") => {
      const asked = { requestId, event: { eventId: "e-1", eventType: "message.received", ...event } };
      const { run } = await client.call(RunnerService.method.startRun, asked);
      if (run === undefined) {
        throw new Error("the service answered without a run");
      }
      return run;
    },
  };
}

export const test = base
  .extend("stage", () => openRunnerStage())
  .extend("service", ({ stage }) => stage.service)
  .extend("client", ({ stage }) => stage.client)
  .extend("stranger", ({ stage }) => stage.stranger)
  .extend("register", ({ stage }) => stage.register)
  .extend("put", ({ stage }) => stage.put)
  .extend("start", ({ stage }) => stage.start);

/** Returns the reason of a refusal. */
export async function refusal(call: Promise<unknown>): Promise<string | undefined> {
  return await call.then(
    () => undefined,
    (error: ServiceError) => reasonOf(error),
  );
}
