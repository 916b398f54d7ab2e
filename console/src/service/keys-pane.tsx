// The API keys of clients: which there are, a new one, and the end of one. The service knows only the hash of a key.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useRef, useState } from "react";
import type { ApiKey } from "#gen/runnel/v1/auth_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { AdminFailure, adminQuery } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useParameter } from "../lib/parameters.ts";
import { useRowKeys } from "../lib/rows.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { More } from "../ui/more.tsx";
import { EmptyState, Loading } from "../ui/notice.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";

/** No stream tells of keys that another operator makes. */
const refreshMs = 15_000;

export function KeysPane() {
  const [client] = useParameter("client");
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | undefined>(undefined);
  const list = useInfiniteQuery(
    AuthService.method.listApiKeys,
    { clientId: client, pageSize: 50, pageToken: "" },
    {
      ...adminQuery,
      ...inPages,
      refetchInterval: refreshMs,
    },
  );
  const { data, error, refetch } = list;
  const keys = data?.pages.flatMap(({ apiKeys }) => apiKeys);
  return (
    <>
      <div className="filter">
        <ClientFilter />
        <span className="spacer" />
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          Create a key
        </button>
      </div>
      {error !== null && <AdminFailure error={error} onRetry={() => void refetch()} />}
      {keys === undefined && error === null && <Loading what="the API keys" />}
      {keys?.length === 0 &&
        (client === "" ? <Empty /> : <p className="hint">{visibleText(client)} has no key here.</p>)}
      {keys !== undefined && keys.length > 0 && <Table keys={keys} onRevoke={setRevoked} />}
      <More list={list}>Older keys</More>
      {isCreating && (
        <CreateKeyDialog client={client} onCreated={() => void refetch()} onClose={() => setCreating(false)} />
      )}
      {revoked !== undefined && (
        <RevokeKeyDialog apiKey={revoked} onRevoked={() => void refetch()} onClose={() => setRevoked(undefined)} />
      )}
    </>
  );
}

function Empty() {
  return (
    <EmptyState title="No API keys yet" lines="runnel keys create --client billing --expires 90d">
      <p>A key lets one client call the service. Keys from the settings are not listed here.</p>
    </EmptyState>
  );
}

/** The service compares whole ids, so the filter counts with Enter. */
function ClientFilter() {
  const [client, setClient] = useParameter("client");
  const search = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => search.current?.focus() });
  return (
    <search aria-label="Filter keys">
      <form
        className="filter"
        onSubmit={(event) => {
          event.preventDefault();
          setClient(search.current?.value.trim() ?? "");
        }}
      >
        <input
          // Another address shows its own client.
          key={client}
          ref={search}
          type="search"
          className="input"
          aria-label="Client"
          placeholder="press / for a client"
          autoComplete="off"
          spellCheck={false}
          defaultValue={client}
        />
        {client !== "" && (
          <button type="button" className="chip set" onClick={() => setClient("")}>
            client: <b>{visibleText(client)}</b>
            <Icon name="close" />
            <span className="unseen">remove this filter</span>
          </button>
        )}
      </form>
    </search>
  );
}

function Table({ keys, onRevoke }: { readonly keys: readonly ApiKey[]; readonly onRevoke: (key: ApiKey) => void }) {
  const rows = useRowKeys<HTMLTableElement>();
  const nowMs = useNow();
  return (
    <table ref={rows} className="rows keys">
      <caption className="unseen">API keys</caption>
      <thead>
        <tr>
          {["State", "Client", "Name", "Id", "Created", "Expires"].map((name) => (
            <th key={name} scope="col" data-name={name.toLowerCase()}>
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="unseen">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((each) => (
          <Row key={each.keyId} apiKey={each} nowMs={nowMs} onRevoke={onRevoke} />
        ))}
      </tbody>
    </table>
  );
}

const looks = { valid: "completed", expired: "cancelled", revoked: "failed" } as const;

function stateOf({ revokeTime, expireTime }: ApiKey, nowMs: number): keyof typeof looks {
  return revokeTime !== undefined ? "revoked" : (msOf(expireTime) ?? nowMs + 1) <= nowMs ? "expired" : "valid";
}

function Row({
  apiKey,
  nowMs,
  onRevoke,
}: {
  readonly apiKey: ApiKey;
  readonly nowMs: number;
  readonly onRevoke: (key: ApiKey) => void;
}) {
  const { keyId, clientId, displayName, createTime, expireTime, revokeTime } = apiKey;
  const state = stateOf(apiKey, nowMs);
  const [created, expires, revoked] = [msOf(createTime) ?? nowMs, msOf(expireTime), msOf(revokeTime)];
  return (
    <tr>
      <td>
        <span
          className="state"
          data-state={looks[state]}
          title={revoked === undefined ? undefined : formatTime(revoked)}
        >
          {state}
        </span>
      </td>
      <th scope="row">{visibleText(clientId)}</th>
      <td>{visibleText(displayName)}</td>
      <td className="mono" data-name="id" title={keyId}>
        {keyId.slice(-12)}
      </td>
      <td data-name="created" title={formatTime(created)}>
        {formatAge(nowMs - created)}
      </td>
      <td data-name="expires">{expires === undefined ? "never" : formatTime(expires)}</td>
      <td data-name="action">
        {state === "valid" && (
          <button
            type="button"
            className="button"
            data-row
            aria-label={`Revoke the key ${displayName || keyId} of ${clientId}`}
            onClick={() => onRevoke(apiKey)}
          >
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
