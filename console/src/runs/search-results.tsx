// The runs whose texts have the words of a search, newest first, each with the part of its text around them.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { type RunMatch, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { chipsOf } from "../lib/annotations.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { More } from "../ui/more.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import type { RunsFilter } from "./runs-filter.ts";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function SearchResults({ filter }: { readonly filter: RunsFilter }) {
  const { words: query, session: sessionId, agent: agentName, fromMs, toMs } = filter;
  const asked = {
    ...{ query, sessionId, agentName },
    ...(fromMs !== undefined && { createTimeFrom: timestampFromMs(fromMs) }),
    ...(toMs !== undefined && { createTimeTo: timestampFromMs(toMs) }),
  };
  const list = useInfiniteQuery(RunService.method.searchRuns, { ...asked, pageSize: 50, pageToken: "" }, inPages);
  const rows = useRowKeys<HTMLUListElement>();
  const nowMs = useNow();
  if (list.error !== null) {
    return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  }
  if (list.data === undefined) {
    return <Loading what="the runs with these words" />;
  }
  const matches = list.data.pages.flatMap((page) => page.matches);
  return matches.length === 0 ? (
    <EmptyState title="No run has these words">
      <p>
        A text is found a few seconds after it was written. States, models, runners and errors do not narrow a search.
      </p>
    </EmptyState>
  ) : (
    <div className="search-results">
      <ul ref={rows} aria-label="Found runs">
        {matches.map((match, index) => (
          <Found key={match.run?.runId ?? index} match={match} nowMs={nowMs} />
        ))}
      </ul>
      <More list={list}>More runs</More>
    </div>
  );
}

function Found({ match: { run, snippet }, nowMs }: { readonly match: RunMatch; readonly nowMs: number }) {
  if (run === undefined) {
    return null;
  }
  const created = msOf(run.createTime) ?? nowMs;
  // The longest word says most about its place.
  const [word = ""] = snippet.flatMap(({ text, isMatch }) => (isMatch ? text : [])).sort((a, b) => b.length - a.length);
  return (
    <li>
      <p className="found-head">
        <StateLabel state={run.state} />
        <Link href={`/runs/${run.runId}?${new URLSearchParams({ find: word })}`} data-row title={run.runId}>
          <bdi>{visibleText(run.agentName || run.driver)}</bdi> <span className="mono">{shortId(run.runId)}</span>
        </Link>
        {chipsOf(run.annotations).map((chip) => (
          <span key={chip} className="tag">
            <bdi>{visibleText(chip)}</bdi>
          </span>
        ))}
        <span className="hint" title={formatTime(created)}>
          {formatAge(nowMs - created)}
        </span>
      </p>
      <p className="snippet" dir="auto">
        {snippet.map(({ text, isMatch }, index) =>
          isMatch ? <mark key={index}>{visibleText(text)}</mark> : visibleText(text),
        )}
      </p>
    </li>
  );
}
