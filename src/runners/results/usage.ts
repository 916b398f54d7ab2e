// What a runner says that a step used. A figure that is not there is unknown, never 0.

import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "#gen/runnel/v1/usage_pb.js";
import { parseJsonText } from "../../base/json/text.ts";
import { Members } from "./members.ts";

/** Undefined when nothing is known. Throws what `Members` and the JSON reader throw. */
export function readUsage(text: string | undefined): Usage | undefined {
  if (text === undefined || text.trim() === "") {
    return undefined;
  }
  const node = parseJsonText(text);
  if (node.kind === "null") {
    return undefined;
  }
  const members = new Members(text, node, "usage");
  const [promptTokens, completionTokens, totalTokens] = figures.map((name) => {
    const figure = members.findInteger(name, { min: 0, max: Number.MAX_SAFE_INTEGER });
    return figure === undefined ? undefined : BigInt(figure);
  });
  const isKnown = (promptTokens ?? completionTokens ?? totalTokens) !== undefined;
  return isKnown ? create(UsageSchema, { promptTokens, completionTokens, totalTokens }) : undefined;
}

const figures = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;
