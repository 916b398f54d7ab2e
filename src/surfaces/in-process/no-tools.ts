// The tools of a request without tools, in the APIs of model providers.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";

/** The tools that a request may have. */
export type RequestTools = Required<
  Pick<MessageInitShape<typeof AgentToolsSchema>, "builtin" | "functions" | "provider" | "mcp" | "unknownCallsToCaller">
>;

/** Callers of such an API answer all calls, also those of a tool that the model has made up. */
export const noTools: RequestTools = {
  builtin: [],
  functions: [],
  provider: [],
  mcp: [],
  unknownCallsToCaller: true,
};
