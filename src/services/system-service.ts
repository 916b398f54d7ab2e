// SystemService: what runs here and how far it goes.

import type { ServiceImpl } from "@connectrpc/connect";
import type { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { messageBytesMax } from "../config/limits.ts";
import { parallelCallsMax } from "../drivers/llm-loop/tool-batch.ts";
import { serverVersion } from "../storage/migrate.ts";
import { callTimeoutMs } from "../tools/call.ts";
import { contentBytesMax } from "../tools/cap.ts";
import type { ServiceDeps } from "./deps.ts";

export function createSystemService(deps: ServiceDeps): ServiceImpl<typeof SystemService> {
  const { config } = deps;
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
      turnsMax: config.defaultMaxTurns,
      runSecondsMax: config.defaultTimeoutSecs,
      toolOutputBytesMax: contentBytesMax,
      toolCallSecondsMax: callTimeoutMs / 1_000,
      parallelToolCallsMax: parallelCallsMax,
    }),
  };
}
