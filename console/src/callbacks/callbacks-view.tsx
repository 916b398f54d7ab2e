// Status callbacks: what was reported to hosts, what waits, what was given up, and sending one again.

import { ConnectError, createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { type StatusCallback, StatusCallback_State } from "#gen/runnel/v1/callback_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { serviceUrl, transport } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { More } from "../ui/more.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";

const service = createClient(CallbackService, transport);
/** No stream tells of attempts. */
const refreshMs = 3_000;

const states = {
  pending: [StatusCallback_State.PENDING, "waiting"],
  delivered: [StatusCallback_State.DELIVERED, "completed"],
  dead: [StatusCallback_State.DEAD, "failed"],
} as const;

type StateName = keyof typeof states;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function CallbacksView() {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get("state") ?? "";
  const name = asked in states ? (asked as StateName) : undefined;
  const state = name === undefined ? StatusCallback_State.UNSPECIFIED : states[name][0];
  const list = useInfiniteQuery(
    CallbackService.method.listCallbacks,
    { state, pageSize: 50, pageToken: "" },
    {
      ...inPages,
      refetchInterval: refreshMs,
    },
  );
  const { data, error, refetch } = list;
  const nowMs = useNow();
  const rows = useRowKeys<HTMLUListElement>();
  const callbacks = data?.pages.flatMap((page) => page.callbacks);
  const redeliver = async (callbackId: string): Promise<void> => {
    try {
      await service.redeliverCallback({ callbackId });
      showToast({ tone: "good", text: "The callback is sent again." });
    } catch (failure) {
      showToast({ tone: "bad", text: ConnectError.from(failure).rawMessage });
    }
    await refetch();
  };
  return (
    <div className="view exchanges-view">
      <header className="view-head">
        <h1>Callbacks</h1>
      </header>
      <fieldset className="chips">
        <legend className="unseen">State</legend>
        {(Object.keys(states) as StateName[]).map((each) => (
          <label key={each} className="chip">
            <input
              type="checkbox"
              checked={each === name}
              onChange={() => setParameters(each === name ? {} : { state: each }, { replace: true })}
            />
            {each}
          </label>
        ))}
      </fieldset>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {callbacks === undefined && error === null && <Loading what="callbacks" />}
      {callbacks?.length === 0 &&
        (name === undefined ? (
          <EmptyState title="No callbacks yet" lines={firstCallback}>
            <p>
              A session with a callback URL reports each change of its state to its host. For an address of your own
              network, as here, the service needs <code>security.allow_private_networks: true</code>.
            </p>
          </EmptyState>
        ) : (
          <p className="hint">No callback is {name}.</p>
        ))}
      {callbacks !== undefined && callbacks.length > 0 && (
        <ul ref={rows} className="lines" aria-label="Callbacks">
          {callbacks.map((callback) => (
            <Line key={callback.callbackId} callback={callback} nowMs={nowMs} onRedeliver={redeliver} />
          ))}
        </ul>
      )}
      <More list={list}>Older callbacks</More>
    </div>
  );
}

function Line({
  callback,
  nowMs,
  onRedeliver,
}: {
  readonly callback: StatusCallback;
  readonly nowMs: number;
  readonly onRedeliver: (callbackId: string) => Promise<void>;
}) {
  const [isBusy, setBusy] = useState(false);
  const { callbackId, sessionId, runId, state, sessionState, baseUrl, attempts, lastError } = callback;
  const [created, next] = [msOf(callback.createTime) ?? nowMs, msOf(callback.nextAttemptTime)];
  const [name, [, look]] = Object.entries(states).find(([, [each]]) => each === state) ?? ["unknown", [0, "queued"]];
  const isPending = state === StatusCallback_State.PENDING;
  return (
    <li className="callback">
      <span className="state" data-state={look}>
        {name}
      </span>
      <span>
        session <span className="mono">{visibleText(sessionId)}</span> is{" "}
        <b>{(Session_State[sessionState] ?? "unknown").toLowerCase()}</b>
        {runId !== "" && (
          <>
            {" · "}
            <Link href={`/runs/${runId}`}>run {shortId(runId)}</Link>
          </>
        )}
      </span>
      <span className="hint">
        <span title={formatTime(created)}>{formatAge(nowMs - created)}</span> to {visibleText(baseUrl)} · {attempts}{" "}
        {attempts === 1 ? "attempt" : "attempts"}
        {isPending && next !== undefined && next > nowMs && ` · next in ${formatDuration(next - nowMs)}`}
      </span>
      {!isPending && (
        <button
          type="button"
          data-row
          className="button"
          disabled={isBusy}
          aria-label={`Redeliver the callback about session ${sessionId}`}
          onClick={() => {
            setBusy(true);
            void onRedeliver(callbackId).finally(() => setBusy(false));
          }}
        >
          <Icon name="again" />
          Redeliver
        </button>
      )}
      {lastError !== "" && <span className="problem">{visibleText(lastError)}</span>}
    </li>
  );
}

const firstCallback = `url=${serviceUrl}
curl -sS $url/v1/sessions -d '{"agent":{"name":"reporter"},"callback":{"base_url":"http://127.0.0.1:9000"}}'`;
