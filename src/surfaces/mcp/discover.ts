// What the service offers to clients of MCP.

import { answer, cacheable, type McpCall } from "./call.ts";
import { modernVersion, tasksExtension } from "./modern.ts";

/** What the service can do, for clients of every era. */
export const capabilities = { tools: { listChanged: true }, resources: {} };

/** For the model of a client. */
export const instructions =
  "Each tool is an agent: it works on a message and answers when it is done, which may take minutes. " +
  "Pass the session_id of an answer to continue its conversation.";

/** `server/discover`. */
export async function discover(call: McpCall): Promise<void> {
  const extensions = { [tasksExtension]: {} };
  const result = { supportedVersions: [modernVersion], capabilities: { ...capabilities, extensions }, instructions };
  answer(call, cacheable(call, result));
}
