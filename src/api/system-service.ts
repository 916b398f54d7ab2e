// SystemService: versions, limits, settings, and usage by the client.

import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { runBudgetOfService } from "../agent/budget/budget.ts";
import type { Amount } from "../agent/budget/day-budget.ts";
import { parallelCallsMax } from "../agent/loop/tool-batch.ts";
import { callTimeoutMs } from "../agent/tools/call.ts";
import { contentBytesMax } from "../agent/tools/cap.ts";
import { listReplicas, type QueueRow, type ReplicaRow, readQueue } from "../engine/storage/replica.ts";
import { clientIdOf, requireClient } from "../platform/auth/caller.ts";
import type { ExplainedKey } from "../platform/config/explain.ts";
import { messageBytesMax } from "../platform/config/limits.ts";
import { serverVersion } from "../platform/database/migrate.ts";
import { readTimeMs } from "../platform/database/time.ts";
import { createScrubber } from "../platform/telemetry/scrub.ts";
import type { ServiceDeps } from "./deps.ts";
import { listUsage } from "./list-usage.ts";

/** Returns the handlers of SystemService. */
export function createSystemService(deps: ServiceDeps): ServiceImpl<typeof SystemService> {
  const { config } = deps;
  // A setting that is no secret may repeat one, or hold a URL with a password.
  const { scrubText } = createScrubber(deps.settingSecrets);
  return {
    getVersion: async () => ({
      version: deps.version,
      nodeVersion: process.versions.node,
      postgresVersion: await serverVersion(deps.db),
    }),
    getLimits: () => ({
      messageBytesMax: BigInt(messageBytesMax),
      restBodyBytesMax: BigInt(config.serverMaxBodyBytes),
      concurrentRunsMax: config.sessionsMaxConcurrent,
      clientConcurrentRunsMax: config.sessionsClientMaxConcurrent,
      turnsMax: config.defaultMaxTurns,
      runSecondsMax: config.defaultTimeoutSecs,
      toolOutputBytesMax: contentBytesMax,
      toolCallSecondsMax: callTimeoutMs / 1_000,
      parallelToolCallsMax: parallelCallsMax,
      ...runBudgetToProto(runBudgetOfService(config)),
      historyMessagesMax: config.sessionsHistoryMessages,
    }),
    listSettings: () => ({ settings: deps.explainedSettings.map((each) => settingToProto(each, scrubText)) }),
    listReplicas: async () => ({
      replicas: (await listReplicas(deps.db)).map(replicaToProto),
      ...queueToProto(await readQueue(deps.db)),
      time: timestampFromMs(Math.round(await readTimeMs(deps.db))),
    }),
    getUsage: async (_request, context) => {
      const { client } = requireClient(context.values);
      const { day, tokens, costMicroUsd } = await deps.dayBudget.read(client);
      const { max } = deps.dayBudget;
      return {
        day,
        tokens: BigInt(tokens),
        costMicroUsd: BigInt(costMicroUsd),
        tokensMax: BigInt(max.tokens),
        costMicroUsdMax: BigInt(max.costMicroUsd),
        clientId: clientIdOf(client),
      };
    },
    listUsage: (request, context) => listUsage(deps, requireClient(context.values).client, request),
  };
}

function settingToProto(explained: ExplainedKey, scrub: (text: string) => string) {
  const { key, value, default: defaultValue, origin, about, variables, secret } = explained;
  return {
    key,
    value: scrub(value),
    defaultValue,
    origin,
    about,
    variables: [...variables],
    isSecret: secret,
  };
}

function replicaToProto({ id, version, start_time, lease_until, slots, runs }: ReplicaRow) {
  const times = { startTime: timestampFromDate(start_time), leaseTime: timestampFromDate(lease_until) };
  return { replicaId: id, version: version ?? "", slots: slots ?? 0, runs, ...times };
}

function queueToProto({ queued, waiting, pending, oldest_due: oldest }: QueueRow) {
  return { queued, waiting, pending, ...(oldest !== null && { oldestQueuedTime: timestampFromDate(oldest) }) };
}

function runBudgetToProto({ tokens, costMicroUsd }: Amount) {
  return { runTokensMax: BigInt(tokens), runCostMicroUsdMax: BigInt(costMicroUsd) };
}
