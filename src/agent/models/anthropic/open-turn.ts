// The things that the service has begun in earlier responses of a turn: its container, and calls of its own tools that wait for results.

import { RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelToolCall } from "../model.ts";
import { type Block, isProviderCall, isProviderResult } from "./block.ts";
import type { Turn } from "./turns.ts";

/** The open part of a turn. */
export interface OpenTurn {
  readonly container: string | undefined;
  readonly calls: readonly ModelToolCall[];
}

/** Returns the open part after the last message of a user. */
export function openTurnOf(turns: readonly Turn[]): OpenTurn {
  const open = turns.slice(turns.findLastIndex(({ role }) => role === "user") + 1);
  const blocks = open.flatMap((turn) => turn.blocks);
  const answered = new Set(blocks.map((block) => (isProviderResult(block.type) ? block.tool_use_id : undefined)));
  return {
    container: open.findLast(({ container }) => container !== undefined)?.container,
    calls: blocks.filter(({ type, id }) => isProviderCall(type) && !answered.has(id)).map(callOf),
  };
}

function callOf({ id, name, input }: Block): ModelToolCall {
  return { id: String(id), name: String(name), argumentsJson: input instanceof RawJson ? input.text : "{}" };
}
