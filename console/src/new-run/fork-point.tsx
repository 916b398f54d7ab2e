// Chooses the message after which a fork continues.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useId } from "react";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { textOf } from "../../../src/platform/run-view/entry.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Failure } from "../ui/notice.tsx";

const labelChars = 80;

export function ForkPoint({
  session,
  count,
  onCount,
}: {
  readonly session: string;
  readonly count: number;
  readonly onCount: (count: number) => void;
}) {
  const id = useId();
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(
    SessionService.method.listMessages,
    { sessionId: session, pageSize: 250, pageToken: "" },
    inPages,
  );
  if (error !== null) {
    return <Failure error={error} />;
  }
  return (
    <div className="field">
      <label htmlFor={`${id}point`}>Continue after</label>
      <select
        id={`${id}point`}
        className="input"
        value={count}
        onChange={(event) => onCount(Number(event.currentTarget.value))}
      >
        <option value={0}>the last message</option>
        {data?.pages
          .flatMap(({ messages }) => messages)
          .map(({ number, message }) => (
            <option key={number} value={number}>
              {`${number} · ${message?.role ?? ""}: ${visibleText(
                labelOf(
                  textOf(message),
                  message?.toolCalls.map(({ name }) => name),
                ),
              )}`}
            </option>
          ))}
      </select>
      {hasNextPage && (
        <button type="button" className="link" onClick={() => void fetchNextPage()}>
          More messages
        </button>
      )}
      <p className="hint">The fork is a session of its own. The one that it continues stays as it is.</p>
    </div>
  );
}

function labelOf(text: string, tools: readonly string[] = []): string {
  const label = text.trim() === "" ? `calls ${tools.join(", ")}` : text.replaceAll(/\s+/g, " ").trim();
  return label.length > labelChars ? `${label.slice(0, labelChars)} …` : label;
}
