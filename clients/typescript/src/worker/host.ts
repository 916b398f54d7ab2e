// The host API of one run: the generated client, whose calls carry the run's token and name the run by themselves.

import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, type Http2SessionManager } from "@connectrpc/connect-node";
import { HostArtifactService } from "../../../../gen/runnel/host/v1/host_artifact_service_pb.js";
import { HostHistoryService } from "../../../../gen/runnel/host/v1/host_history_service_pb.js";
import { HostKnowledgeService } from "../../../../gen/runnel/host/v1/host_knowledge_service_pb.js";
import { HostModelService } from "../../../../gen/runnel/host/v1/host_model_service_pb.js";
import { HostRunService } from "../../../../gen/runnel/host/v1/host_run_service_pb.js";
import { HostStorageService } from "../../../../gen/runnel/host/v1/host_storage_service_pb.js";
import { HostToolService } from "../../../../gen/runnel/host/v1/host_tool_service_pb.js";

const services = [
  HostArtifactService,
  HostHistoryService,
  HostKnowledgeService,
  HostModelService,
  HostRunService,
  HostStorageService,
  HostToolService,
] as const;

/** The calls of all services of the host API. */
export type Host = Client<typeof HostArtifactService> &
  Client<typeof HostHistoryService> &
  Client<typeof HostKnowledgeService> &
  Client<typeof HostModelService> &
  Client<typeof HostRunService> &
  Client<typeof HostStorageService> &
  Client<typeof HostToolService>;

export interface HostOptions {
  readonly url: string;
  readonly sessionManager: Http2SessionManager;
  readonly runId: string;
  readonly token: string;
}

export function openHost({ url, sessionManager, runId, token }: HostOptions): Host {
  // Every request of this service has the field.
  const name = <T>(message: T): T => ({ ...message, runId });
  const identify: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return await next(
      request.stream
        ? { ...request, message: mapMessages(request.message, name) }
        : { ...request, message: name(request.message) },
    );
  };
  const transport = createGrpcTransport({ baseUrl: url, sessionManager, interceptors: [identify] });
  return Object.assign({}, ...services.map((service) => createClient<DescService>(service, transport)));
}

async function* mapMessages<T>(messages: AsyncIterable<T>, map: (message: T) => T): AsyncIterable<T> {
  for await (const message of messages) {
    yield map(message);
  }
}
