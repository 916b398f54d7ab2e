// One exchange: the outbox to copy, the answer to paste with what it would execute, the last results, and the steps.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useId, useState } from "react";
import { Link } from "wouter";
import {
  type CommandResult,
  type Exchange,
  Exchange_State,
  type ParsedCommand,
} from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { transport } from "../api/transport.ts";
import { formatBytes, formatCount, formatTime, msOf } from "../lib/format.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { ExchangeLabel } from "./exchange-label.tsx";

const service = createClient(ExchangeService, transport);
const refreshMs = 2_000;
/** A preview waits until a person pauses, so that typing costs few calls. */
const pauseMs = 250;

export function OneExchange({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(
    ExchangeService.method.getExchange,
    { exchangeId: id },
    {
      refetchInterval: (query) => (query.state.data?.exchange && isOpen(query.state.data.exchange) ? refreshMs : false),
    },
  );
  useEffect(() => setTitle(`Exchange ${id}`), [id]);
  // A text stays with the outbox that it answers, also when another person answers that one first.
  const [answered, setAnswered] = useState<number | undefined>(undefined);
  const exchange = data?.exchange;
  if (exchange === undefined) {
    return error === null ? <Loading what="the exchange" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const deadline = msOf(exchange.deadlineTime);
  return (
    <div className="view exchanges-view">
      <header className="view-head">
        <h1>
          <Link href="/exchanges" className="crumb">
            Exchanges
          </Link>
          <span className="mono">{id}</span>
        </h1>
        <ExchangeLabel state={exchange.state} />
        <span className="hint">
          <Link href={`/runs/${exchange.runId}`}>its run</Link>
          {isOpen(exchange) && deadline !== undefined && ` · fails if it is open at ${formatTime(deadline)}`}
        </span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="task" role="group" aria-label="Task" tabIndex={0}>
        {visibleText(exchange.task)}
      </div>
      <Steps exchange={exchange} />
      <div className="exchange-columns">
        {isOpen(exchange) && <Outbox key={`out-${exchange.sequence}`} exchange={exchange} />}
        {(isOpen(exchange) || answered !== undefined) && (
          <Inbox
            key={`in-${answered ?? exchange.sequence}`}
            exchangeId={id}
            sequence={answered ?? exchange.sequence}
            onText={(text) => setAnswered((current) => (text === "" ? undefined : (current ?? exchange.sequence)))}
            onDone={() => {
              setAnswered(undefined);
              void refetch();
            }}
          />
        )}
        {exchange.lastResults.length > 0 && <Results results={exchange.lastResults} />}
      </div>
    </div>
  );
}

function isOpen({ state }: Exchange): boolean {
  return state === Exchange_State.WAITING || state === Exchange_State.WORKING;
}

/** Each step is an outbox with its answer. The newest one is what a person does next. */
function Steps({ exchange }: { readonly exchange: Exchange }) {
  const isDone = !isOpen(exchange);
  return (
    <ol className="steps" aria-label="Steps">
      {Array.from({ length: exchange.sequence }, (_, index) => {
        const isLast = index + 1 === exchange.sequence && !isDone;
        return (
          <li key={index} aria-current={isLast ? "step" : undefined}>
            {index + 1}
            <span className="unseen">{isLast ? " waits for its answer" : " done"}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

function Outbox({ exchange: { exchangeId, sequence } }: { readonly exchange: Exchange }) {
  const id = useId();
  const { data, error, refetch } = useQuery(ExchangeService.method.getOutbox, { exchangeId });
  // The service may have written the next one already: its answer says which one it is.
  const isNewest = data?.sequence === sequence;
  useEffect(() => {
    if (data !== undefined && !isNewest) {
      void refetch();
    }
  }, [data, isNewest, refetch]);
  const text = data?.text ?? "";
  return (
    <Section
      title={`1. Copy outbox ${sequence} into a chat window`}
      aside={
        isNewest && (
          <span className="actions">
            <span className="hint">{formatBytes(new TextEncoder().encode(text).length)}</span>
            <CopyButton text={text} what="the outbox" label="Copy" />
          </span>
        )
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {!isNewest && error === null && <Loading what="the outbox" />}
      {isNewest && (
        <>
          <label htmlFor={`${id}outbox`} className="unseen">
            Outbox
          </label>
          <textarea
            id={`${id}outbox`}
            className="input mono"
            rows={12}
            readOnly
            value={text}
            onFocus={(event) => event.currentTarget.select()}
          />
        </>
      )}
    </Section>
  );
}

function Inbox({
  exchangeId,
  sequence,
  onText,
  onDone,
}: {
  readonly exchangeId: string;
  readonly sequence: number;
  readonly onText: (text: string) => void;
  readonly onDone: () => void;
}) {
  const id = useId();
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const parsed = usePaused(text);
  const preview = useQuery(
    ExchangeService.method.parseInbox,
    { text: parsed },
    { enabled: parsed !== "", placeholderData: keepPreviousData, staleTime: Number.POSITIVE_INFINITY },
  );
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { results, isComplete } = await service.submitInbox({ exchangeId, text, sequence });
      const failed = results.filter(({ success }) => !success).length;
      showToast(
        failed === 0
          ? { tone: "good", text: isComplete ? "The task is done." : `Executed ${formatCount(results.length)}.` }
          : { tone: "bad", text: `${formatCount(failed)} of ${formatCount(results.length)} failed.` },
      );
      onDone();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const commands = parsed === "" ? undefined : preview.data?.commands;
  return (
    <Section title={`2. Paste the answer to outbox ${sequence}`}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label htmlFor={`${id}inbox`} className="unseen">
          Answer
        </label>
        <textarea
          id={`${id}inbox`}
          className="input mono"
          rows={8}
          required
          value={text}
          spellCheck={false}
          placeholder="The whole answer, unchanged. Text outside of commands is ignored."
          onInput={(event) => {
            setText(event.currentTarget.value);
            onText(event.currentTarget.value);
          }}
        />
        {preview.error !== null && parsed !== "" && <Failure error={preview.error} />}
        {commands !== undefined && <Preview commands={commands} />}
        {error !== undefined && <Refusal error={error} onReload={onDone} />}
        <div className="actions">
          {/* What is submitted is what the preview has shown. */}
          <button
            type="submit"
            className="button primary"
            disabled={isBusy || text === "" || text !== parsed || commands === undefined || preview.isPlaceholderData}
          >
            {isBusy ? "Executing …" : "Submit"}
          </button>
        </div>
      </form>
    </Section>
  );
}

/** Returns the text once it has been the same for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return useDeferredValue(paused);
}

function Preview({ commands }: { readonly commands: readonly ParsedCommand[] }) {
  const errors = commands.filter(({ type }) => type === "PARSE_ERROR").length;
  return (
    <div className="preview" role="status">
      <p>
        {commands.length === 0
          ? "No command: nothing would be executed, and the next outbox says so."
          : `Would execute ${formatCount(commands.length - errors)}${errors > 0 ? `, and not ${formatCount(errors)} with errors` : ""}:`}
      </p>
      <ol>
        {commands.map(({ type, attributes, message, body }, index) => (
          <li key={index} data-failed={type === "PARSE_ERROR" || undefined}>
            <b className="mono">{type}</b> <span>{visibleText(message || aboutOf(attributes, body))}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Example: `a.txt, lines 3 to 7`. */
function aboutOf(attributes: ParsedCommand["attributes"], body = ""): string {
  const { path, startLine, endLine } = attributes ?? {};
  if (path === undefined) {
    return body;
  }
  return startLine === undefined ? path : `${path}, lines ${startLine} to ${endLine ?? startLine}`;
}

function Refusal({ error, onReload }: { readonly error: unknown; readonly onReload: () => void }) {
  return ConnectError.from(error).code === Code.FailedPrecondition ? (
    <div className="preview" role="alert">
      <p className="problem">Nothing was executed: {ConnectError.from(error).rawMessage}</p>
      <div className="actions">
        <button type="button" className="button" onClick={onReload}>
          Show the newest outbox
        </button>
      </div>
    </div>
  ) : (
    <Failure error={error} />
  );
}

function Results({ results }: { readonly results: readonly CommandResult[] }) {
  return (
    <Section title="Last results">
      <ol className="results">
        {results.map(({ type, success, summary, output }, index) => (
          <li key={index} data-failed={!success || undefined}>
            <Icon name={success ? "check" : "close"} />
            <div>
              <b className="mono">{type}</b> {visibleText(summary)}
              <span className="unseen">{success ? "succeeded" : "failed"}</span>
              {output !== "" && <CodeBlock label="output" tone="terminal" text={output} />}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
