// The memories of a client: its own, those of its agents and those of its sessions. The address names the memory, and the search.

import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useId, useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { MemoryEntry } from "#gen/runnel/v1/memory_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatBytes, formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { withParameter } from "../lib/parameters.ts";
import { prettyJson, visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { languageOfJson } from "../ui/code-language.ts";
import { Icon } from "../ui/icon.tsx";
import { More } from "../ui/more.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";

/** Whose memory it is: at most one of the two is set. */
interface Owner {
  readonly sessionId: string;
  readonly agent: string;
}

type Scope = "client" | "agent" | "session";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function MemoryView() {
  const [parameters] = useSearchParams();
  const sessionId = parameters.get("session") ?? "";
  const owner = { sessionId, agent: sessionId === "" ? (parameters.get("agent") ?? "") : "" };
  const search = parameters.get("search")?.trim() ?? "";
  const key = parameters.get("key") ?? undefined;
  return (
    <div className="view">
      <header className="view-head">
        <h1>Memory</h1>
        <span className="hint">{describe(owner)}</span>
      </header>
      <OwnerForm key={`${owner.agent} ${sessionId}`} owner={owner} search={search} />
      {search === "" ? <Entries owner={owner} chosen={key} /> : <Found owner={owner} search={search} chosen={key} />}
    </div>
  );
}

function describe({ sessionId, agent }: Owner): string {
  return sessionId !== ""
    ? "of one session and of all runs of their trees"
    : agent !== ""
      ? `of the agents named ${visibleText(agent)}, in all sessions`
      : "of this client: all its agents with the scope client, and its runners";
}

const scopes: Readonly<Record<Scope, string>> = {
  client: "the client",
  agent: "an agent, by its name",
  session: "a session, by its id",
};

function OwnerForm({ owner, search }: { readonly owner: Owner; readonly search: string }) {
  const id = useId();
  const [, setParameters] = useSearchParams();
  const [scope, setScope] = useState<Scope>(
    owner.sessionId !== "" ? "session" : owner.agent !== "" ? "agent" : "client",
  );
  const [name, setName] = useState(owner.sessionId || owner.agent);
  const [text, setText] = useState(search);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setParameters({
      ...(scope !== "client" && name.trim() !== "" && { [scope]: name.trim() }),
      ...(text.trim() !== "" && { search: text.trim() }),
    });
  };
  return (
    <search aria-label="Choose a memory">
      <form className="filter" onSubmit={submit}>
        <label htmlFor={`${id}scope`}>Memory of</label>
        <select
          id={`${id}scope`}
          className="input"
          value={scope}
          onChange={(event) => setScope(event.currentTarget.value as Scope)}
        >
          {Object.entries(scopes).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
        {scope !== "client" && (
          <>
            <label className="unseen" htmlFor={`${id}name`}>
              {scope === "agent" ? "Name of the agent" : "Id of the session"}
            </label>
            <input
              id={`${id}name`}
              className="input"
              value={name}
              placeholder={scope === "agent" ? "name of the agent" : "id of the session"}
              autoComplete="off"
              spellCheck={false}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </>
        )}
        <label className="unseen" htmlFor={`${id}search`}>
          Words in the entries
        </label>
        <input
          id={`${id}search`}
          className="input"
          value={text}
          placeholder="words in the entries"
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" className="button">
          <Icon name="search" />
          Show
        </button>
      </form>
    </search>
  );
}

function Entries({ owner, chosen }: { readonly owner: Owner; readonly chosen: string | undefined }) {
  const list = useInfiniteQuery(
    MemoryService.method.listMemory,
    { ...owner, keyPrefix: "", pageSize: 100, pageToken: "" },
    inPages,
  );
  const { data, error, refetch } = list;
  const entries = data?.pages.flatMap((page) => page.entries);
  if (error !== null) {
    return <Failure error={error} onRetry={() => void refetch()} />;
  }
  if (entries === undefined) {
    return <Loading what="the memory" />;
  }
  if (entries.length === 0) {
    return (
      <EmptyState title="This memory is empty" lines={firstEntry(owner)}>
        <p>
          Agents with the tool <code>memory_write</code> write here, and your program with the same RPCs.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <Table owner={owner} rows={entries.map((entry) => ({ entry, excerpt: undefined }))} chosen={chosen} />
      <More list={list}>More entries</More>
    </>
  );
}

function Found({
  owner,
  search,
  chosen,
}: {
  readonly owner: Owner;
  readonly search: string;
  readonly chosen: string | undefined;
}) {
  const { data, error, refetch } = useQuery(MemoryService.method.searchMemory, { ...owner, query: search, limit: 20 });
  if (error !== null) {
    return <Failure error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return <Loading what="the entries" />;
  }
  const rows = data.matches.flatMap(({ entry, excerpt }) => (entry === undefined ? [] : [{ entry, excerpt }]));
  return rows.length === 0 ? (
    <p className="hint">No entry has all these words.</p>
  ) : (
    <Table owner={owner} rows={rows} chosen={chosen} />
  );
}

interface Row {
  readonly entry: MemoryEntry;
  /** Where a search has found the words. */
  readonly excerpt: string | undefined;
}

function Table({
  owner,
  rows,
  chosen,
}: {
  readonly owner: Owner;
  readonly rows: readonly Row[];
  readonly chosen: string | undefined;
}) {
  const [parameters] = useSearchParams();
  const nowMs = useNow();
  return (
    <table className="data-table" aria-label="Entries">
      <thead>
        <tr>
          {["Key", "Version", "Size", "Written"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ entry: { key, version, sizeBytes, updateTime }, excerpt }) => {
          const [isChosen, writtenMs] = [key === chosen, msOf(updateTime)];
          return [
            <tr key={key}>
              <th scope="row">
                <Link
                  href={`/memory?${withParameter(parameters, "key", isChosen ? "" : key)}`}
                  replace
                  aria-expanded={isChosen}
                >
                  <bdi>{visibleText(key)}</bdi>
                </Link>
                {excerpt !== undefined && (
                  <p className="hint" dir="auto">
                    {visibleText(excerpt)}
                  </p>
                )}
              </th>
              <td data-name="version">{String(version)}</td>
              <td>{formatBytes(sizeBytes)}</td>
              <td title={writtenMs === undefined ? undefined : formatTime(writtenMs)}>
                {writtenMs === undefined ? "" : formatAge(nowMs - writtenMs)}
              </td>
            </tr>,
            isChosen && (
              <tr key={`${key} value`}>
                <td colSpan={4}>
                  <Value owner={owner} entryKey={key} />
                </td>
              </tr>
            ),
          ];
        })}
      </tbody>
    </table>
  );
}

function Value({ owner, entryKey }: { readonly owner: Owner; readonly entryKey: string }) {
  const { data, error, refetch } = useQuery(MemoryService.method.getMemory, { ...owner, key: entryKey });
  if (error !== null) {
    return <Failure error={error} onRetry={() => void refetch()} />;
  }
  if (data?.entry === undefined) {
    return <Loading what="the value" />;
  }
  const text = readValue(data.entry.value);
  return <CodeBlock label={visibleText(entryKey)} text={text} language={languageOfJson(text)} />;
}

/** A text of an agent is a JSON string. */
function readValue(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : prettyJson(json);
  } catch {
    return json;
  }
}

function firstEntry({ sessionId, agent }: Owner): string {
  const owner = JSON.stringify({
    ...(sessionId !== "" && { session_id: sessionId }),
    ...(agent !== "" && { agent }),
    value: "Short sentences.",
  }).replaceAll("'", "'\\''");
  return `url=${serviceUrl}
curl -sS -X PUT $url/v1/memory/style -H 'content-type: application/json' -d '${owner}'`;
}
