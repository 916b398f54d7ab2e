// The filter of what waits: agent, session and age, in the address. History is not searched: its pages have no filter.

import { useSearchParams } from "wouter";
import type { Approval } from "#gen/runnel/v1/approval_pb.js";
import { msOf, shortId } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import { visibleText } from "../lib/visible-text.ts";
import { isPending } from "./approval-changes.ts";

const ages = { "10m": ["10 minutes", 600_000], "1h": ["hour", 3_600_000], "1d": ["day", 86_400_000] } as const;

const values = { agent: askerOf, session: ({ sessionId }: Approval) => sessionId } as const;

/** Who asks: the agent, or the runner of a run without one. */
export function askerOf({ agentName, runnerId }: Approval): string {
  return agentName || runnerId;
}

/** Returns those that wait and match, or all without a filter. */
export function filterApprovals(
  approvals: readonly Approval[],
  parameters: URLSearchParams,
  nowMs: number,
): readonly Approval[] {
  const [agent, session, age] = ["agent", "session", "age"].map((name) => parameters.get(name) ?? "");
  if (!agent && !session && !age) {
    return approvals;
  }
  const sinceMs = age !== undefined && age in ages ? nowMs - ages[age as keyof typeof ages][1] : 0;
  return approvals.filter(
    (each) =>
      isPending(each) &&
      (!agent || values.agent(each) === agent) &&
      (!session || values.session(each) === session) &&
      (msOf(each.createTime) ?? nowMs) >= sinceMs,
  );
}

/** Offers the agents and the sessions of what waits. */
export function ApprovalsFilter({ approvals }: { readonly approvals: readonly Approval[] }) {
  const [parameters, setParameters] = useSearchParams();
  const pending = approvals.filter(isPending);
  const choose = (name: string, label: string, options: readonly (readonly [value: string, text: string])[]) => (
    <select
      className="input"
      aria-label={label}
      value={parameters.get(name) ?? ""}
      onChange={({ currentTarget: { value } }) =>
        setParameters((current) => withParameter(current, name, value), { replace: true })
      }
    >
      <option value="">any {name}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  /** What was chosen stays on offer when nothing of it waits any more. */
  const known = (name: keyof typeof values): readonly string[] =>
    [...new Set([...pending.map(values[name]), parameters.get(name) ?? ""])].filter((each) => each !== "").sort();
  return (
    <search className="filter" aria-label="Filter what waits">
      {choose(
        "agent",
        "Agent",
        known("agent").map((name) => [name, visibleText(name)]),
      )}
      {choose(
        "session",
        "Session",
        known("session").map((id) => [id, `session ${shortId(id)}`]),
      )}
      {choose(
        "age",
        "Age",
        Object.entries(ages).map(([name, [text]]) => [name, `asked in the last ${text}`]),
      )}
    </search>
  );
}
