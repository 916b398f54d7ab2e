// The runners of this client, and below them the bindings that assign events to them.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import type { Runner } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runnerPath } from "../run/runner-path.ts";
import { More } from "../ui/more.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { capabilitiesOf, eventTypesOf, kindOf, refreshMs, scopeOf } from "./describe.ts";
import { bindingPath, localText } from "./names.ts";
import { BindingState, RunnerState } from "./states.tsx";

const page = { pageSize: 50, pageToken: "" } as const;

export function RunnerLists() {
  const options = { ...inPages, refetchInterval: refreshMs };
  const runners = useInfiniteQuery(RunnerService.method.listRunners, page, options);
  const bindings = useInfiniteQuery(RunnerService.method.listBindings, page, options);
  const root = useRowKeys<HTMLDivElement>();
  const listed = runners.data?.pages.flatMap((each) => each.runners);
  const bound = bindings.data?.pages.flatMap((each) => each.bindings);
  return (
    <div className="view exchanges-view runners-view" ref={root}>
      <header className="view-head">
        <h1>Runners</h1>
      </header>
      {runners.error !== null && <Failure error={runners.error} onRetry={() => void runners.refetch()} />}
      {listed === undefined && runners.error === null && <Loading what="runners" />}
      {listed?.length === 0 && (
        <EmptyState title="No runners yet" lines={firstRunner}>
          <p>A runner appears here as soon as its worker registers it, or you register its URL.</p>
        </EmptyState>
      )}
      {listed !== undefined && listed.length > 0 && <Runners runners={listed} />}
      <More list={runners}>More runners</More>
      <h2>Bindings</h2>
      {bindings.error !== null && <Failure error={bindings.error} onRetry={() => void bindings.refetch()} />}
      {bound === undefined && bindings.error === null && <Loading what="bindings" />}
      {bound?.length === 0 && (
        <EmptyState title="No bindings yet" lines={firstBinding}>
          <p>A binding assigns events to a runner, and grants what the runner may use for them.</p>
        </EmptyState>
      )}
      {bound !== undefined && bound.length > 0 && <Bindings bindings={bound} />}
      <More list={bindings}>More bindings</More>
    </div>
  );
}

function Runners({ runners }: { readonly runners: readonly Runner[] }) {
  const nowMs = useNow();
  return (
    <table className="data-table" aria-label="Runners">
      <TableHead names={["Runner", "State", "Kind", "Protocol", "Capabilities", "Registered"]} />
      <tbody>
        {runners.map((runner) => {
          const registered = msOf(runner.updateTime) ?? nowMs;
          return (
            <tr key={runner.runnerId}>
              <th scope="row">
                <Link href={runnerPath(runner.runnerId)} data-row className="row-link mono">
                  {visibleText(runner.runnerId)}
                </Link>
                <span className="hint">{visibleText(localText(runner.manifest?.label))}</span>
              </th>
              <td>
                <RunnerState state={runner.state} />
              </td>
              <td>{visibleText(kindOf(runner))}</td>
              <td>{runner.era}</td>
              <td>{capabilitiesOf(runner).join(", ")}</td>
              <td title={formatTime(registered)}>{formatAge(nowMs - registered)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Bindings({ bindings }: { readonly bindings: readonly Binding[] }) {
  const nowMs = useNow();
  return (
    <table className="data-table" aria-label="Bindings">
      <TableHead names={["Binding", "State", "Runner or agent", "Events", "Scope", "Changed"]} />
      <tbody>
        {bindings.map((binding) => {
          const changed = msOf(binding.updateTime) ?? nowMs;
          return (
            <tr key={binding.bindingId}>
              <th scope="row">
                <Link href={bindingPath(binding.bindingId)} data-row className="row-link mono">
                  {visibleText(binding.bindingId)}
                </Link>
              </th>
              <td>
                <BindingState enabled={binding.enabled} />
              </td>
              <td>
                {binding.agentId === "" ? (
                  <Link href={runnerPath(binding.runnerId, { binding: binding.bindingId })} className="mono">
                    {visibleText(binding.runnerId)}
                  </Link>
                ) : (
                  <>
                    agent <span className="mono">{visibleText(binding.agentId)}</span>
                  </>
                )}
              </td>
              <td>{visibleText(eventTypesOf(binding).join(", "))}</td>
              <td>{visibleText(scopeOf(binding))}</td>
              <td title={formatTime(changed)}>{formatAge(nowMs - changed)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const firstRunner = `url=${serviceUrl}
curl -sS $url/v1/runners:register -H 'content-type: application/json' -d '{
  "worker_id": "first",
  "manifests": [{"id":"plugin:acme/greeter/default","name":"default","label":{"en_US":"Greeter"}}]
}'`;

const firstBinding = `url=${serviceUrl}
curl -sS -X PUT $url/v1/bindings/greetings -H 'content-type: application/json' -d '{"runner_id":"plugin:acme/greeter/default"}'`;
