// Chooses the run to compare with: by its id, or one of the last runs of the same agent, to which a fork and a repetition belong.

import { useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useId, useState } from "react";
import { Link, useLocation } from "wouter";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { formatTime, msOf, shortId } from "../lib/format.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { shortOutput } from "../runs/run-changes.ts";
import { Failure } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { TableHead } from "../ui/table-head.tsx";

const offeredMax = 20;

/** `left` is the id of the run to compare; empty for the choice of both from the list. */
export function ChooseRun({ left }: { readonly left: string }) {
  const id = useId();
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const rows = useRowKeys<HTMLTableElement>();
  const run = useQuery(RunService.method.getRun, { runId: left, ...shortOutput }, { enabled: left !== "" });
  const agentName = run.data?.run?.agentName ?? "";
  const others = useQuery(
    RunService.method.listRuns,
    { agentName, ...shortOutput, pageSize: offeredMax },
    { enabled: run.data !== undefined },
  );
  const addressOf = (right: string): string => `/compare?${new URLSearchParams({ a: left, b: right })}`;
  if (left === "") {
    return (
      <p>
        Mark two runs in the <Link href="/runs">list of runs</Link>.
      </p>
    );
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    navigate(addressOf(text.trim()));
  };
  const error = run.error ?? others.error;
  return (
    <section className="panel" aria-labelledby={`${id}title`}>
      <h2 id={`${id}title`}>Compare {shortId(left)} with</h2>
      {error !== null && <Failure error={error} />}
      <form className="text-filter" onSubmit={submit}>
        <input
          className="input"
          aria-label="Id of the other run"
          placeholder="id of the other run"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" className="button" disabled={text.trim() === ""}>
          Compare
        </button>
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="scroll" role="group" aria-label="The last runs of the same agent" tabIndex={0}>
        <table ref={rows} className="numbers words" aria-label="The last runs of the same agent">
          <TableHead names={["Run", "State", "Input", "Created"]} />
          <tbody>
            {others.data?.runs
              .filter(({ runId }) => runId !== left)
              .map(({ runId, state, inputExcerpt, createTime }) => (
                <tr key={runId}>
                  <th scope="row">
                    <Link href={addressOf(runId)} data-row className="mono row-link">
                      {shortId(runId)}
                    </Link>
                  </th>
                  <td>
                    <StateLabel state={state} />
                  </td>
                  <td>
                    <bdi>{visibleText(inputExcerpt)}</bdi>
                  </td>
                  <td>{formatTime(msOf(createTime) ?? 0)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
