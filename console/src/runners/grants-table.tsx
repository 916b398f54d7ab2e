// What a runner requests beside what a binding grants: one row for each decision. A difference has a sign, a word and a bar.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import type { RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { firstPage, useAllPages } from "../lib/all-pages.ts";
import { formatCount } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { refreshMs } from "./describe.ts";
import { compareGrants, type GrantRow, isDifference, type Stored, type Terms, type Verdict } from "./grants.ts";

const verdicts = {
  granted: ["granted", "completed"],
  refused: ["not granted", "failed"],
  unused: ["allowed, not requested", "waiting"],
  absent: ["granted, but missing", "waiting"],
  withheld: ["not allowed", "cancelled"],
} as const satisfies Record<Verdict, readonly [string, string]>;

/** More names are folded. */
const namesMax = 12;

export function GrantsTable({
  manifest,
  terms,
}: {
  readonly manifest: RunnerManifest;
  /** Undefined when no binding names the runner. */
  readonly terms: Terms | undefined;
}) {
  const stored = useStored();
  const rows = compareGrants(manifest, terms, stored);
  return (
    <>
      <p>{summaryOf(rows)}</p>
      <table className="data-table">
        <caption className="unseen">Requested and granted</caption>
        <TableHead names={["Operation", "Manifest", "Binding", "Why not, or when"]} />
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.kind} ${row.operations.join(" ")} ${row.verdict}`} row={row} />
          ))}
        </tbody>
      </table>
      <p className="hint">
        The service decides again for each event, when its run starts. A run keeps what it was granted then.
      </p>
    </>
  );
}

function Row({ row }: { readonly row: GrantRow }) {
  const { kind, operations, request, verdict, resources, reason } = row;
  const [word, look] = verdicts[verdict];
  return (
    <tr data-differs={isDifference(row) ? verdict : undefined}>
      <th scope="row">
        {kind} <span className="mono">{operations.join(", ")}</span>
      </th>
      <td className="request" data-request={request}>
        {request !== "needs no request" && <Icon name={request === "requested" ? "check" : "close"} />}
        {request}
      </td>
      <td>
        <span className="state" data-state={look}>
          {word}
        </span>{" "}
        <Names names={resources} />
      </td>
      <td>{reason}</td>
    </tr>
  );
}

function Names({ names }: { readonly names: readonly string[] }) {
  const [first, rest] = [names.slice(0, namesMax), names.slice(namesMax)];
  return (
    <>
      {first.length > 0 && <span className="mono">{visibleText(first.join(", "))}</span>}
      {rest.length > 0 && (
        <details className="fold">
          <summary>
            <Icon name="chevron" />
            {formatCount(rest.length)} more
          </summary>
          <span className="mono">{visibleText(rest.join(", "))}</span>
        </details>
      )}
    </>
  );
}

/** Example: `3 of 7 requests are not granted in full, and 1 grant is not requested.` */
function summaryOf(rows: readonly GrantRow[]): string {
  const requested = rows.filter(({ request }) => request === "requested");
  const all = countRequests(requested);
  const refused = countRequests(requested.filter(isDifference));
  const unused = rows.filter(({ verdict }) => verdict === "unused").length;
  const end =
    unused === 0 ? "" : `, and ${formatCount(unused)} ${unused === 1 ? "grant is" : "grants are"} not requested`;
  if (all === 0) {
    return `The manifest requests nothing${end}.`;
  }
  return refused === 0
    ? `Everything that the manifest requests is granted${end}.`
    : `${formatCount(refused)} of ${formatCount(all)} requests ${refused === 1 ? "is" : "are"} not granted in full${end}.`;
}

/** One request has several rows where some of its resources are granted and others are not. */
function countRequests(rows: readonly GrantRow[]): number {
  return new Set(rows.flatMap(({ kind, operations }) => operations.map((operation) => `${kind} ${operation}`))).size;
}

/** Returns the knowledge bases and files of this client. */
function useStored(): Stored {
  const options = { ...inPages, refetchInterval: refreshMs };
  const bases = useInfiniteQuery(KnowledgeService.method.listKnowledgeBases, firstPage, options);
  const files = useInfiniteQuery(RunnerService.method.listConfigFiles, firstPage, options);
  useAllPages(bases);
  useAllPages(files);
  return {
    knowledgeBases: completeSet(bases, (page) => page.knowledgeBases.map(({ kbId }) => kbId)),
    files: completeSet(files, (page) => page.files.map(({ fileKey }) => fileKey)),
  };
}

/** Returns undefined until all pages are there: a name on a page that is not loaded is not missing. */
function completeSet<Page>(
  list: { readonly data: { readonly pages: readonly Page[] } | undefined; readonly hasNextPage: boolean },
  read: (page: Page) => readonly string[],
): ReadonlySet<string> | undefined {
  return list.data === undefined || list.hasNextPage ? undefined : new Set(list.data.pages.flatMap(read));
}
