// Where a run of the loop stands: what its checkpoints hold and what it goes on from.

import { create, type JsonObject } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "#gen/runnel/v1/usage_pb.js";
import type { ModelUsage } from "../../models/model.ts";
import type { RunContext } from "../../runs/driver.ts";

export interface Progress {
  /** Model responses taken so far. */
  readonly turns: number;
  /** What comes next: a model response, or the tool calls of the last one. */
  readonly phase: "model" | "tools";
  /** True when the log says already that the next turn has started. */
  readonly announced: boolean;
  readonly usage: UsageTotals;
}

type UsageTotals = Readonly<Partial<Record<keyof ModelUsage, number>>>;

/** Undefined before the first checkpoint. */
export function readProgress({ checkpoint }: RunContext): Progress | undefined {
  if (checkpoint === undefined) {
    return undefined;
  }
  const state: Omit<Progress, "turns"> = JSON.parse(Buffer.from(checkpoint.state).toString());
  return { ...state, turns: checkpoint.turn };
}

export function checkpointOf({ turns, ...state }: Progress): { turn: number; state: Uint8Array } {
  return { turn: turns, state: Buffer.from(JSON.stringify(state satisfies JsonObject)) };
}

/** Adds one response's tokens. What no provider counted stays unknown. */
export function addUsage(totals: UsageTotals, usage: ModelUsage | undefined): UsageTotals {
  const sum: Partial<Record<keyof ModelUsage, number>> = { ...totals };
  for (const [name, tokens] of Object.entries(usage ?? {}) as [keyof ModelUsage, number | undefined][]) {
    if (tokens !== undefined) {
      sum[name] = (sum[name] ?? 0) + tokens;
    }
  }
  return sum;
}

/** Undefined when nothing was counted. */
export function usageMessage(totals: UsageTotals | undefined): Usage | undefined {
  const counted = Object.entries(totals ?? {}).filter(([, tokens]) => tokens !== undefined);
  if (counted.length === 0) {
    return undefined;
  }
  return create(UsageSchema, Object.fromEntries(counted.map(([name, tokens]) => [name, BigInt(tokens)])));
}
