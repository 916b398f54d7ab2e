// The services of the host API, which a runner may call while it works on a run.

import { HostArtifactService } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { HostHistoryService } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { HostKnowledgeService } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import { HostModelService } from "#gen/runnel/host/v1/host_model_service_pb.js";
import { HostRunService } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { part, type ServicePart } from "../../../api/protocol.ts";
import type { LangbotDeps } from "./deps.ts";
import { createHostData } from "./host-data.ts";
import { addApiError } from "./host-errors.ts";
import { createHostThinking } from "./host-thinking.ts";

/** The services of the host API. */
export const hostServices = [
  HostModelService,
  HostToolService,
  HostKnowledgeService,
  HostHistoryService,
  HostArtifactService,
  HostStorageService,
  HostRunService,
] as const;

/** Creates the handlers of the host API. Their errors have an `ApiError` detail. */
export function createHostServices(deps: LangbotDeps): readonly ServicePart[] {
  const handlers = { ...createHostData(deps), ...createHostThinking(deps) };
  return hostServices.map((service) => part(service, handlers, addApiError));
}
