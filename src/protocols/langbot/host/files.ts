// Reads the files that a runner's configuration names. The run's client has put them.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReadFileRequest, ReadFileResponseSchema } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { Fault } from "../../../platform/base/fault.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { type HostContext, type HostDeps, withHostRun } from "./access.ts";

/** Returns the content of a file. Throws Fault RESOURCE_NOT_FOUND when it was deleted. */
export async function readFile(
  deps: HostDeps,
  context: HostContext,
  { runId, fileKey }: ReadFileRequest,
): Promise<MessageInitShape<typeof ReadFileResponseSchema>> {
  const call = { runId, action: "get_config_file", needs: { file: fileKey } } as const;
  return await withHostRun(deps, context, call, async ({ scope: { client } }) => {
    const file = await readConfigFile(deps.db, { client, fileKey });
    if (file === undefined) {
      throw new Fault("RESOURCE_NOT_FOUND", "file not found");
    }
    return { content: file.content, ...(file.mime_type !== null && { mimeType: file.mime_type }) };
  });
}
