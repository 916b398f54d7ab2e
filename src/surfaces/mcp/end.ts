// The end of a call, with the artifacts of its run.

import { readArtifact } from "../in-process/agents.ts";
import type { McpCall } from "./call.ts";
import type { CallEnd, CallFold } from "./fold.ts";

/** Returns the end of an ended run. */
export async function endOf(call: McpCall, runId: string, fold: CallFold): Promise<CallEnd> {
  return await fold.end((artifactId) => readArtifact(call.server.agents, call.values, runId, artifactId));
}
