// The exchanges of this client, and a form that starts one.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { type FormEvent, useId, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Exchange } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { transport } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { More } from "../ui/more.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { ExchangeLabel } from "./exchange-label.tsx";
import { OneExchange } from "./one-exchange.tsx";

const service = createClient(ExchangeService, transport);
/** A state changes by what this or another person does, so the list may be some seconds old. */
const refreshMs = 5_000;
const taskChars = 300;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function ExchangesView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  return params.exchangeId === undefined ? <List /> : <OneExchange key={params.exchangeId} id={params.exchangeId} />;
}

function List() {
  const list = useInfiniteQuery(
    ExchangeService.method.listExchanges,
    { pageSize: 50, pageToken: "" },
    {
      ...inPages,
      refetchInterval: refreshMs,
    },
  );
  const { data, error, refetch } = list;
  const nowMs = useNow();
  const rows = useRowKeys<HTMLUListElement>();
  const exchanges = data?.pages.flatMap((page) => page.exchanges);
  return (
    <div className="view exchanges-view">
      <header className="view-head">
        <h1>Exchanges</h1>
      </header>
      <StartForm />
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {exchanges === undefined && error === null && <Loading what="exchanges" />}
      {exchanges?.length === 0 && <p className="hint">No exchanges yet. The first one appears here.</p>}
      {exchanges !== undefined && exchanges.length > 0 && (
        <ul ref={rows} className="lines" aria-label="Exchanges">
          {exchanges.map((exchange) => (
            <Line key={exchange.exchangeId} exchange={exchange} nowMs={nowMs} />
          ))}
        </ul>
      )}
      <More list={list}>Older exchanges</More>
    </div>
  );
}

function Line({
  exchange: { exchangeId, task, state, sequence, updateTime, createTime },
  nowMs,
}: {
  readonly exchange: Exchange;
  readonly nowMs: number;
}) {
  const changed = msOf(updateTime) ?? msOf(createTime) ?? nowMs;
  return (
    <li>
      <Link href={`/exchanges/${exchangeId}`} data-row className="inbox-row">
        <b>{visibleText(task.slice(0, taskChars))}</b>
        <ExchangeLabel state={state} />
        <span className="mono">{exchangeId}</span>
        <span title={formatTime(changed)}>
          step {sequence} · {formatAge(nowMs - changed)}
        </span>
      </Link>
    </li>
  );
}

function StartForm() {
  const id = useId();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      const { exchangeId } = await service.startExchange({
        task: String(fields.get("task")),
        workDir: String(fields.get("directory")).trim(),
        requestId: crypto.randomUUID(),
      });
      navigate(`/exchanges/${exchangeId}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form className="form panel" onSubmit={(event) => void submit(event)}>
      <p className="hint">
        An exchange runs a task through any chat window: copy a text out, paste the answer in, and Runnel executes its
        commands.
      </p>
      <div className="field">
        <label htmlFor={`${id}task`}>Task</label>
        <textarea id={`${id}task`} name="task" className="input" rows={3} required />
      </div>
      <div className="field">
        <label htmlFor={`${id}directory`}>Work directory on the service's machine</label>
        <input
          id={`${id}directory`}
          name="directory"
          className="input mono"
          placeholder="an empty directory of its own"
          spellCheck={false}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Start the exchange
        </button>
      </div>
    </form>
  );
}
