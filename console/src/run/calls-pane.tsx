// The calls of models of a run: what was sent to the provider and what it answered, turn by turn. They are loaded when a person looks.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import type { ModelCall } from "#gen/runnel/v1/model_call_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { formatBytes, formatDuration } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock, JsonBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import { More } from "../ui/more.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";

/** Each may be half a megabyte. */
const callsPerPage = 20;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function CallsPane({ runId, turns }: { readonly runId: string; readonly turns: number }) {
  const request = { runId, pageSize: callsPerPage, pageToken: "" };
  const list = useInfiniteQuery(RunService.method.listModelCalls, request, { ...inPages, staleTime: 0, gcTime: 0 });
  const { data, error, refetch } = list;
  // A new turn has new calls.
  useEffect(() => {
    if (turns > 0) {
      void refetch();
    }
  }, [turns, refetch]);
  const calls = data?.pages.flatMap(({ modelCalls }) => modelCalls);
  if (calls === undefined) {
    return error === null ? <Loading what="the calls" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  if (calls.length === 0) {
    return (
      <EmptyState title="No calls are kept" lines="RUNNEL_PROVIDERS_KEEP_CALLS=true">
        <p>
          With this setting the service keeps what it sends to models and what they answer, for runs that start later.
        </p>
      </EmptyState>
    );
  }
  return (
    <div className="calls">
      {calls.map((call) => (
        <OneCall key={call.callId} call={call} />
      ))}
      <More list={list}>Later calls</More>
    </div>
  );
}

function OneCall({ call }: { readonly call: ModelCall }) {
  const [isOpen, setOpen] = useState(false);
  const { turn, provider, model, status, error, durationMs, requestSizeBytes, answerSizeBytes } = call;
  const end = `${status === 0 ? "no answer" : status} · ${formatDuration(Number(durationMs))}`;
  const sizes = `${formatBytes(Number(requestSizeBytes))} → ${formatBytes(Number(answerSizeBytes))}`;
  return (
    <details
      className="fold tool"
      data-outcome={error === "" ? "done" : "failed"}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <Icon name="chevron" />
        <b>Turn {turn}</b>
        <span className="tool-about">{visibleText(`${provider}:${model}`)}</span>
        <span className="tool-end">
          {sizes} · {end}
        </span>
      </summary>
      {isOpen && <Content call={call} />}
    </details>
  );
}

function Content({ call }: { readonly call: ModelCall }) {
  const { path, requestHeaders, request, requestCut, answerHeaders, answer, answerCut, error } = call;
  return (
    <div className="fold-body">
      {error !== "" && <CodeBlock label="error" text={error} />}
      <CodeBlock label="request headers" text={`POST ${path}\n${requestHeaders}`} />
      <JsonBlock label={named("request", requestCut)} json={request} />
      {answerHeaders !== "" && <CodeBlock label="answer headers" text={answerHeaders} />}
      {answer !== "" && <CodeBlock label={named("answer", answerCut)} text={answer} />}
    </div>
  );
}

function named(name: string, isCut: boolean): string {
  return isCut ? `${name}, its beginning` : name;
}
