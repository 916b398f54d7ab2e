// The usage that coding agents report with the end of a prompt. The field is not in the stable protocol; the agents that send it agree.

import type { DriverEnd } from "../../engine/runs/driver.ts";

/** Returns the usage of a prompt as a part of the end of a run; nothing when the agent reports none. */
export function usageOf(
  usage: Readonly<Record<string, unknown>> | undefined,
): Pick<Extract<DriverEnd, { usage?: unknown }>, "usage"> {
  const counts = {
    promptTokens: countIn(usage?.inputTokens),
    completionTokens: countIn(usage?.outputTokens),
    totalTokens: countIn(usage?.totalTokens),
    cachedTokens: countIn(usage?.cachedReadTokens),
  };
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
  return Object.keys(known).length === 0 ? {} : { usage: known };
}

function countIn(count: unknown): bigint | undefined {
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? BigInt(count) : undefined;
}
