// Carries what a server answers past the checks of the official client, which refuses a whole list for one odd tool, and a whole result
// for one odd block. `catalogue.ts` and `outcome.ts` read them, each part by itself.
//
// R1  Lists of tools and results of calls reach their readers as the server wrote them.
// R2  Members of the opening that are null count as missing: servers in Python, Go and C# write such members.

import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isObject } from "../../../platform/base/json/parse-object.ts";

const metaKey = "runnel/carried";

/** Changes a message that has come from a server, before the official client checks it. */
export function carryResult(message: JSONRPCMessage): void {
  if (!("result" in message)) {
    return;
  }
  const { result } = message;
  if ("tools" in result || "content" in result || "structuredContent" in result) {
    const { tools, content: _, structuredContent: __, isError: ___, nextCursor: ____, _meta: meta, ...others } = result;
    const empty = tools === undefined ? { content: [] } : { tools: [] };
    message.result = { ...others, ...empty, _meta: { ...meta, [metaKey]: result } };
  } else if ("protocolVersion" in result) {
    message.result = withoutNulls(result) as typeof result;
  }
}

/** Returns the result as the server wrote it. */
export function carriedIn(result: {
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}): Readonly<Record<string, unknown>> {
  const carried = result._meta?.[metaKey];
  return isObject(carried) ? carried : result;
}

function withoutNulls(value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) => (each === null ? [] : [[name, withoutNulls(each)]])),
      )
    : value;
}
