// RunnerService: runners, runs started by events, and the verdicts and audit entries of runs. The part that clients configure
// is in runner-config.ts.

import type { ServiceImpl } from "@connectrpc/connect";
import type {
  ManifestVerdict,
  RegisterRunnersRequest,
  RunnerService,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import { nextPageToken, nextTokenOf, pageSize } from "../../../api/page.ts";
import { requireRun } from "../../../api/run-service.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { traceParentOf } from "../../../platform/base/trace-parent.ts";
import { reasons } from "../reasons.ts";
import { isEra } from "../runners/era.ts";
import { listRunnersAt } from "../runners/list-runners.ts";
import { registerListed, registerWorker, workerSeenWithinMs } from "../runners/register.ts";
import { formatRunnerId } from "../runners/runner-id.ts";
import type { StartEventDeps } from "../runners/start-event.ts";
import { auditEntryToProto, runnerToProto, verdictToProto } from "../runners/to-proto.ts";
import { listAuditEntries } from "../storage/audit-page.ts";
import { deleteRunner, findRunner, listRunners } from "../storage/runner.ts";
import { listResultVerdicts } from "../storage/verdict-page.ts";
import type { LangbotDeps } from "./deps.ts";
import { createRunnerConfig } from "./runner-config.ts";
import { startRunOfEvent } from "./start-run.ts";

/** Creates the handlers of RunnerService. */
export function createRunnerService(deps: LangbotDeps & StartEventDeps): ServiceImpl<typeof RunnerService> {
  const { db, cursors } = deps;
  return {
    startRun: (request, { values }) =>
      startRunOfEvent(deps, requireClient(values).client, request, traceParentOf(values)),
    registerRunners: async (request, { values, signal }) => {
      const { client } = requireClient(values);
      const { workerId, manifests, era, url, credential } = request;
      if (url !== "") {
        return { verdicts: await registerDialled(deps, client, request, signal) };
      }
      if (credential !== "") {
        throw invalidField("credential", "it applies to dialled runners only: send it with their url");
      }
      return await registerWorker(deps, { client, workerId, era: isEra(era) ? era : "spec", manifests });
    },
    listRunners: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["runners", client];
      const limit = pageSize(request.pageSize);
      const after = cursors.decode(scope, request.pageToken);
      const page = await listRunners(db, { client, after, limit, seenWithinMs: workerSeenWithinMs });
      return {
        runners: page.rows.map(runnerToProto),
        nextPageToken: nextTokenOf(page, ({ runner_id }) => cursors.encode(scope, runner_id)),
      };
    },
    getRunner: async (parts, { values }) => {
      const name = { client: requireClient(values).client, runnerId: formatRunnerId(parts) };
      const row = requireRunner(await findRunner(db, { ...name, seenWithinMs: workerSeenWithinMs }));
      return { runner: runnerToProto(row) };
    },
    deleteRunner: async (parts, { values }) => {
      const name = { client: requireClient(values).client, runnerId: formatRunnerId(parts) };
      requireRunner((await deleteRunner(db, name)) || undefined);
      return {};
    },
    ...createRunnerConfig(deps),
    listResultVerdicts: async (request, { values }) => {
      const { client, id: runId } = await requireRun(db, requireClient(values), request.runId);
      const scope = ["verdicts", client, runId];
      const limit = pageSize(request.pageSize);
      const after = cursors.decode(scope, request.pageToken);
      const rows = await listResultVerdicts(db, {
        runId,
        after: after === undefined ? undefined : Number(after),
        limit,
      });
      return {
        verdicts: rows.map(verdictToProto),
        nextPageToken: nextPageToken(rows, limit, ({ position }) => cursors.encode(scope, String(position))),
      };
    },
    listAuditEntries: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["audit", client, request.runId];
      const limit = pageSize(request.pageSize);
      const rows = await listAuditEntries(db, {
        client,
        runId: request.runId === "" ? undefined : request.runId,
        before: cursors.decode(scope, request.pageToken),
        limit,
      });
      return {
        entries: rows.map(auditEntryToProto),
        nextPageToken: nextPageToken(rows, limit, ({ id }) => cursors.encode(scope, id)),
      };
    },
  };
}

async function registerDialled(
  deps: LangbotDeps,
  client: string,
  { workerId, manifests, era, url, credential }: RegisterRunnersRequest,
  signal: AbortSignal,
): Promise<ManifestVerdict[]> {
  if (manifests.length > 0 || era !== "") {
    throw invalidField(manifests.length > 0 ? "manifests" : "era", "leave it out: the runners at the url provide it");
  }
  const address = { url, credential: credential === "" ? null : credential };
  const listed = await listRunnersAt(deps.egress, address, signal);
  return await registerListed(deps, { client, workerId, address, ...listed });
}

function requireRunner<T>(runner: T | undefined): T {
  if (runner === undefined) {
    throw new Fault(reasons.RUNNER_NOT_FOUND, "runner not found");
  }
  return runner;
}
