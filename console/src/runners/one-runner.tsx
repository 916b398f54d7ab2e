// One runner: what it says of itself, what it requests beside what each of its bindings grants, and what its runs met.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { Link, useSearchParams } from "wouter";
import { type Runner, Runner_State, type RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { transport } from "../api/transport.ts";
import { formatTime, msOf } from "../lib/format.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runnerPath } from "../run/runner-path.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { type Bound, useBindings } from "./bindings.ts";
import { DeleteButton } from "./delete-button.tsx";
import { capabilitiesOf, eventTypesOf, kindOf, refreshMs, scopeOf } from "./describe.ts";
import { GrantsTable } from "./grants-table.tsx";
import { bindingPath, localText, type RunnerIdParts, readRunnerId } from "./names.ts";
import { Records } from "./records.tsx";
import { StartForm } from "./start-form.tsx";
import { RunnerState } from "./states.tsx";

const service = createClient(RunnerService, transport);

export function OneRunner({ runnerId }: { readonly runnerId: string }) {
  const parts = readRunnerId(runnerId);
  return parts === undefined ? (
    <EmptyState title="There is no such runner">
      <p>
        The id of a runner has the form <code>plugin:author/name/runner</code>.
      </p>
    </EmptyState>
  ) : (
    <Loaded runnerId={runnerId} parts={parts} />
  );
}

function Loaded({ runnerId, parts }: { readonly runnerId: string; readonly parts: RunnerIdParts }) {
  const { data, error, refetch } = useQuery(
    RunnerService.method.getRunner,
    { ...parts },
    { refetchInterval: refreshMs },
  );
  const root = useRowKeys<HTMLDivElement>();
  const runner = data?.runner;
  if (runner === undefined) {
    return error === null ? <Loading what="the runner" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div className="view exchanges-view runners-view" ref={root}>
      <header className="view-head">
        <h1>
          <Link href="/runners" className="crumb">
            Runners
          </Link>
          <span className="mono">{visibleText(runnerId)}</span>
          <CopyButton text={runnerId} what="the id of the runner" />
        </h1>
        <RunnerState state={runner.state} />
        <div className="spacer" />
        <DeleteButton what="the runner" onDelete={() => service.deleteRunner({ ...parts })}>
          <p>
            Another worker may then register its id. Its active runs continue, and later events for it start nothing.
          </p>
        </DeleteButton>
      </header>
      <Facts runner={runner} />
      {runner.manifest !== undefined && <BoundGrants runner={runner} manifest={runner.manifest} />}
      <Records runnerId={runnerId} />
    </div>
  );
}

function Facts({ runner }: { readonly runner: Runner }) {
  const { manifest, era } = runner;
  const [created, updated] = [msOf(runner.createTime), msOf(runner.updateTime)];
  return (
    <>
      <dl className="facts">
        <Fact name="name">{visibleText(localText(manifest?.label))}</Fact>
        <Fact name="about">{visibleText(localText(manifest?.description))}</Fact>
        <Fact name="kind">{visibleText(kindOf(runner))}</Fact>
        <Fact name="protocol">{era}</Fact>
        <Fact name="capabilities">{capabilitiesOf(runner).join(", ")}</Fact>
        <Fact name="registered">{created !== undefined && formatTime(created)}</Fact>
        <Fact name="last">{updated !== undefined && updated !== created && formatTime(updated)}</Fact>
      </dl>
      <Forms configSchema={manifest?.configSchema} metadata={manifest?.metadata} />
    </>
  );
}

function Forms({ configSchema, metadata }: Partial<Pick<RunnerManifest, "configSchema" | "metadata">>) {
  return (
    (configSchema !== undefined || metadata !== undefined) && (
      <details className="fold">
        <summary>
          <Icon name="chevron" />
          Its configuration and metadata
        </summary>
        <div className="fold-body">
          {configSchema !== undefined && <JsonBlock label="fields of its configuration" json={configSchema} />}
          {metadata !== undefined && <JsonBlock label="metadata" json={metadata} />}
        </div>
      </details>
    )
  );
}

/** The bindings of a runner. The address says which one is compared: the first one that is enabled when it names none. */
function BoundGrants({ runner, manifest }: { readonly runner: Runner; readonly manifest: RunnerManifest }) {
  const [parameters] = useSearchParams();
  const { bound, error, refetch, isPartial } = useBindings(refreshMs);
  if (bound === undefined) {
    return error === null ? <Loading what="bindings" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const own = bound.filter(({ terms }) => terms?.runnerId === runner.runnerId);
  const asked = parameters.get("binding");
  const chosen =
    own.find(({ binding }) => binding.bindingId === asked) ??
    own.find(({ binding }) => binding.enabled !== false) ??
    own[0];
  return (
    <>
      <section className="panel" aria-label="Requested and granted">
        <div className="panel-head">
          <h2>What it requests, and what is granted</h2>
          <span className="actions">
            {own.map(({ binding: { bindingId, enabled } }) => (
              <Link
                key={bindingId}
                href={runnerPath(runner.runnerId, { binding: bindingId })}
                replace
                className={bindingId === chosen?.binding.bindingId ? "chip set" : "chip"}
                aria-current={bindingId === chosen?.binding.bindingId ? "true" : undefined}
              >
                {bindingId === chosen?.binding.bindingId && <Icon name="check" />}
                {visibleText(bindingId)}
                {enabled === false && " (disabled)"}
              </Link>
            ))}
          </span>
        </div>
        {isPartial && (
          <p className="hint">Only the first {bound.length} bindings of this client were looked through.</p>
        )}
        {chosen !== undefined && <About bound={chosen} />}
        <GrantsTable manifest={manifest} terms={chosen?.terms} />
      </section>
      {chosen !== undefined && chosen.binding.enabled !== false && (
        <section className="panel" aria-label="Start a run">
          <h2>Start a run by {visibleText(chosen.binding.bindingId)}</h2>
          {runner.state === Runner_State.OFFLINE && (
            <p className="hint">No worker listens now. The run waits 60 s for one, and then fails.</p>
          )}
          <StartForm key={chosen.binding.bindingId} binding={chosen.binding} />
        </section>
      )}
    </>
  );
}

function About({ bound: { binding } }: { readonly bound: Bound }) {
  return (
    <p>
      Binding <Link href={bindingPath(binding.bindingId)}>{visibleText(binding.bindingId)}</Link> takes{" "}
      {visibleText(eventTypesOf(binding).join(", "))} · {visibleText(scopeOf(binding))}
      {binding.agentId !== "" && ` · as agent ${visibleText(binding.agentId)}`}
    </p>
  );
}
