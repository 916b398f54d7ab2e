// One binding: which events it takes, with which configuration, and what it grants to its runner.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { transport } from "../api/transport.ts";
import { formatDuration, formatTime, msOf } from "../lib/format.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runnerPath } from "../run/runner-path.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { DeleteButton } from "./delete-button.tsx";
import { eventTypesOf, refreshMs, scopeOf } from "./describe.ts";
import type { Terms } from "./grants.ts";
import { GrantsTable } from "./grants-table.tsx";
import { readRunnerId } from "./names.ts";
import { Records } from "./records.tsx";
import { StartForm } from "./start-form.tsx";
import { BindingState, RunnerState } from "./states.tsx";

const service = createClient(RunnerService, transport);
const approvalSecondsDefault = 900;

export function OneBinding({ bindingId }: { readonly bindingId: string }) {
  const { data, error, refetch } = useQuery(
    RunnerService.method.getBinding,
    { bindingId },
    { refetchInterval: refreshMs },
  );
  const agentId = data?.binding?.agentId ?? "";
  const agent = useQuery(RunnerService.method.getAgentProfile, { agentId }, { enabled: agentId !== "" });
  const root = useRowKeys<HTMLDivElement>();
  const binding = data?.binding;
  if (binding === undefined) {
    return error === null ? <Loading what="the binding" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const terms: Terms | undefined = agentId === "" ? binding : agent.data?.agent;
  return (
    <div className="view exchanges-view runners-view" ref={root}>
      <header className="view-head">
        <h1>
          <Link href="/runners" className="crumb">
            Runners
          </Link>
          <span className="mono">{visibleText(bindingId)}</span>
        </h1>
        <BindingState enabled={binding.enabled} />
        <div className="spacer" />
        <DeleteButton what="the binding" onDelete={() => service.deleteBinding({ bindingId })}>
          <p>Its events then start nothing, unless another binding matches them. Runs that have started continue.</p>
        </DeleteButton>
      </header>
      <Facts binding={binding} terms={terms} />
      {agent.error !== null && <Absent error={agent.error} what={`the agent ${agentId}`} onRetry={agent.refetch} />}
      {terms !== undefined && <OfRunner binding={binding} terms={terms} />}
    </div>
  );
}

function Facts({ binding, terms }: { readonly binding: Binding; readonly terms: Terms | undefined }) {
  const [created, updated] = [msOf(binding.createTime), msOf(binding.updateTime)];
  const { required = false, expireSeconds = 0 } = terms?.approvalPolicy ?? {};
  return (
    <dl className="facts">
      <Fact name="runner">
        {terms !== undefined && (
          <Link href={runnerPath(terms.runnerId, { binding: binding.bindingId })} className="mono">
            {visibleText(terms.runnerId)}
          </Link>
        )}
      </Fact>
      <Fact name="agent">{visibleText(binding.agentId)}</Fact>
      <Fact name="events">{visibleText(eventTypesOf(binding).join(", "))}</Fact>
      <Fact name="scope">{visibleText(scopeOf(binding))}</Fact>
      <Fact name="actions">
        {required
          ? `wait for an approval, at most ${formatDuration((expireSeconds || approvalSecondsDefault) * 1_000)}`
          : "need no approval"}
      </Fact>
      <Fact name="created">{created !== undefined && formatTime(created)}</Fact>
      <Fact name="changed">{updated !== undefined && updated !== created && formatTime(updated)}</Fact>
    </dl>
  );
}

function OfRunner({ binding, terms }: { readonly binding: Binding; readonly terms: Terms }) {
  const parts = readRunnerId(terms.runnerId) ?? { author: "", name: "", runner: "" };
  const { data, error, refetch } = useQuery(
    RunnerService.method.getRunner,
    { ...parts },
    { refetchInterval: refreshMs },
  );
  const runner = data?.runner;
  const manifest = runner?.manifest;
  return (
    <>
      {error !== null && <Absent error={error} what={`the runner ${terms.runnerId}`} onRetry={refetch} />}
      {runner !== undefined && manifest !== undefined && (
        <section className="panel" aria-label="Requested and granted">
          <div className="panel-head">
            <h2>What its runner requests, and what it grants</h2>
            <RunnerState state={runner.state} />
          </div>
          <GrantsTable manifest={manifest} terms={terms} />
        </section>
      )}
      {terms.runnerConfig !== undefined && <JsonBlock label="configuration of the runner" json={terms.runnerConfig} />}
      {binding.enabled !== false && runner !== undefined && (
        <section className="panel" aria-label="Start a run">
          <h2>Start a run</h2>
          <StartForm binding={binding} />
        </section>
      )}
      <Records runnerId={terms.runnerId} bindingId={binding.bindingId} />
    </>
  );
}

/** Says that what the binding names does not exist. Every other failure is shown as it is. */
function Absent({
  error,
  what,
  onRetry,
}: {
  readonly error: unknown;
  readonly what: string;
  readonly onRetry: () => Promise<unknown>;
}) {
  return ConnectError.from(error).code === Code.NotFound ? (
    <p className="run-error">
      The binding names {visibleText(what)}, which does not exist. Its events start nothing until it does.
    </p>
  ) : (
    <Failure error={error} onRetry={() => void onRetry()} />
  );
}
