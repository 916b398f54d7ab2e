// The usage of a step, as a runner reports it. A missing figure is unknown, never 0.

import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "#gen/runnel/v1/usage_pb.js";
import { parseJsonText } from "../../../../platform/base/json/text.ts";
import { Members, quote } from "./members.ts";

/** A parsed usage. */
export interface ReadUsage {
  /** Undefined when no figure is known. */
  readonly usage: Usage | undefined;
  /** The names of members that have no field here, fit to be shown. */
  readonly leftOut: readonly string[];
}

const nothing: ReadUsage = { usage: undefined, leftOut: [] };

/** Parses a usage. Throws PayloadFault or JsonTextError when it is invalid. */
export function readUsage(text: string | undefined): ReadUsage {
  if (text === undefined || text.trim() === "") {
    return nothing;
  }
  const node = parseJsonText(text);
  if (node.kind === "null") {
    return nothing;
  }
  const members = new Members(text, node, "usage");
  const [promptTokens, completionTokens, totalTokens] = figures.map((name) => {
    const figure = members.findInteger(name, { min: 0, max: Number.MAX_SAFE_INTEGER });
    return figure === undefined ? undefined : BigInt(figure);
  });
  const isKnown = (promptTokens ?? completionTokens ?? totalTokens) !== undefined;
  const usage = isKnown ? create(UsageSchema, { promptTokens, completionTokens, totalTokens }) : undefined;
  return { usage, leftOut: members.unread.map(quote) };
}

const figures = ["prompt_tokens", "completion_tokens", "total_tokens"] as const;
