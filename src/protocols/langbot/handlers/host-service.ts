// HostService: what a runner may ask while it works on a run.

import type { ServiceImpl } from "@connectrpc/connect";
import type { HostService } from "#gen/runnel/host/v1/host_service_pb.js";
import type { LangbotDeps } from "./deps.ts";
import { createHostData } from "./host-data.ts";
import { createHostThinking } from "./host-thinking.ts";

/** What is not in it is answered with UNIMPLEMENTED. */
export function createHostService(deps: LangbotDeps): Partial<ServiceImpl<typeof HostService>> {
  return { ...createHostData(deps), ...createHostThinking(deps) };
}
