// The end of a call, with the artifacts of its run.

import type { McpCall } from "./call.ts";
import type { CallEnd, CallFold } from "./fold.ts";

/** Returns the end of an ended run. */
export async function endOf(call: McpCall, runId: string, fold: CallFold): Promise<CallEnd> {
  return await fold.end((artifactId) => readContent(call, runId, artifactId));
}

/** Returns the content of an artifact that is not in the log, in base64; undefined without one. */
export async function readContent({ server, values }: McpCall, runId: string, artifactId: string) {
  for (const source of server.agents) {
    const content = await source.readArtifact(values, runId, artifactId);
    if (content !== undefined) {
      return Buffer.from(content).toString("base64");
    }
  }
  return undefined;
}
