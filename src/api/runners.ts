// The runners that protocols offer by name: programs that work on the runs of an agent in place of a model.

import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { invalidField } from "../platform/base/fault.ts";

/** A runner that agents may name. */
export interface OfferedRunner {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** The name of the driver of its runs. */
  readonly driver: string;
  /** The clients whose agents may name it; undefined means all. */
  readonly clients: readonly string[] | undefined;
}

/**
 * Returns the runner that an agent of a client names; undefined when it names none.
 * @throws Fault INVALID_ARGUMENT for an unknown runner, and for tools, which a runner does not take.
 */
export function findRunner(
  runners: readonly OfferedRunner[],
  client: string,
  { runner, tools }: Agent,
): OfferedRunner | undefined {
  if (runner === "") {
    return undefined;
  }
  const offered = runners.filter(({ clients }) => clients === undefined || clients.includes(client));
  const found = offered.find(({ name }) => name === runner);
  if (found === undefined) {
    const names = offered.map(({ name }) => name).join(", ");
    const which = names === "" ? "this service has none for you" : `name one of ${names}`;
    throw invalidField("agent.runner", `there is no runner "${runner}": ${which}, or leave it unset`);
  }
  const given = toolKinds.find((kind) => (tools?.[kind] ?? []).length > 0);
  if (given !== undefined) {
    throw invalidField(`agent.tools.${given}`, `the runner ${runner} has its own tools: leave it unset`);
  }
  return found;
}

const toolKinds = ["builtin", "remote", "functions", "approve", "provider", "mcp", "agents"] as const;
