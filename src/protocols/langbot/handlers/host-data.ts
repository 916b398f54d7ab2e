// The half of the host API that reads and stores data.

import type { ServiceImpl } from "@connectrpc/connect";
import type { HostArtifactService } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import type { HostHistoryService } from "#gen/runnel/host/v1/host_history_service_pb.js";
import type { HostRunService } from "#gen/runnel/host/v1/host_run_service_pb.js";
import type { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { type ApprovalDeps, getApproval } from "../host/approvals.ts";
import { getArtifact, readArtifact } from "../host/artifacts.ts";
import { type EventDeps, getEvent, pageEvents } from "../host/events.ts";
import { readFile } from "../host/files.ts";
import { type HistoryDeps, pageHistory, searchInHistory } from "../host/history.ts";
import { getRun } from "../host/run.ts";
import { deleteState, getState, listState, setState } from "../host/state.ts";
import { deleteStorage, listStorage, readStorage, writeStorage } from "../host/storage.ts";
import { getVersion } from "../host/version.ts";

type HostData = ServiceImpl<typeof HostHistoryService> &
  ServiceImpl<typeof HostArtifactService> &
  ServiceImpl<typeof HostStorageService> &
  ServiceImpl<typeof HostRunService>;

/** Dependencies of the data handlers. */
export type HostDataDeps = HistoryDeps & EventDeps & ApprovalDeps & { readonly version: string };

/** Creates the handlers for history, events, artifacts, state, storage, files, approvals and runs. */
export function createHostData(deps: HostDataDeps) {
  return {
    pageHistory: (request, context) => pageHistory(deps, context, request),
    searchHistory: (request, context) => searchInHistory(deps, context, request),
    getEvent: async (request, context) => ({ record: await getEvent(deps, context, request) }),
    pageEvents: (request, context) => pageEvents(deps, context, request),
    getArtifact: async (request, context) => ({ artifact: await getArtifact(deps, context, request) }),
    readArtifact: (request, context) => readArtifact(deps, context, request),
    getState: (request, context) => getState(deps, context, request),
    setState: async (request, context) => {
      await setState(deps, context, request);
      return {};
    },
    deleteState: (request, context) => deleteState(deps, context, request),
    listState: (request, context) => listState(deps, context, request),
    readStorage: (request, context) => readStorage(deps, context, request),
    writeStorage: async (request, context) => {
      await writeStorage(deps, context, request);
      return {};
    },
    deleteStorage: (request, context) => deleteStorage(deps, context, request),
    listStorage: (request, context) => listStorage(deps, context, request),
    readFile: (request, context) => readFile(deps, context, request),
    getApproval: (request, context) => getApproval(deps, context, request),
    getRun: async (request, context) => ({ run: await getRun(deps, context, request) }),
    getVersion: async (request, context) => ({ version: await getVersion(deps, context, request) }),
  } satisfies HostData;
}
