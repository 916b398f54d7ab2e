// The trust audit: changes of keys and refused JobSpecs, newest first, filtered by the address.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useSearchParams } from "wouter";
import type { TrustEvent } from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { adminQuery } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Inbox } from "../ui/inbox.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Mono } from "./spec-facts.tsx";

const types = ["key.created", "key.updated", "key.revoked", "receipt_key.rotated", "jobspec.refused"] as const;
/** No stream tells of refused specs. */
const refreshMs = 5_000;

export function TrustEvents() {
  const [parameters, setParameters] = useSearchParams();
  const type = types.find((each) => each === parameters.get("type")) ?? "";
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    TrustService.method.listTrustEvents,
    { type, pageSize: 50, pageToken: "" },
    {
      ...adminQuery,
      ...inPages,
      refetchInterval: refreshMs,
    },
  );
  const nowMs = useNow();
  const events = data?.pages.flatMap((page) => page.events);
  const hrefOf = (more: Readonly<Record<string, string>>): string =>
    `/jobs/keys?${new URLSearchParams({ tab: "events", ...(type !== "" && { type }), ...more })}`;
  return (
    <>
      <fieldset className="chips">
        <legend className="unseen">Type</legend>
        {types.map((each) => (
          <label key={each} className="chip">
            <input
              type="checkbox"
              checked={each === type}
              onChange={() => setParameters({ tab: "events", ...(each !== type && { type: each }) }, { replace: true })}
            />
            {each}
          </label>
        ))}
      </fieldset>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {events === undefined && error === null && <Loading what="trust events" />}
      {events?.length === 0 && (
        <p className="hint">
          {type === "" ? "Changes of keys and refused JobSpecs will be here." : `No event is ${type}.`}
        </p>
      )}
      {events !== undefined && events.length > 0 && (
        <Inbox
          label="Trust events"
          items={events}
          idOf={({ eventId }) => eventId}
          hrefOf={(event) => hrefOf({ event })}
          row={(event) => <Row event={event} nowMs={nowMs} />}
          onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
          chosen={parameters.get("event") ?? undefined}
          oneLabel="The event"
          one={(id) => <OneEvent event={events.find(({ eventId }) => eventId === id)} />}
        />
      )}
    </>
  );
}

function Row({ event, nowMs }: { readonly event: TrustEvent; readonly nowMs: number }) {
  const { type, kid, publicKey, errorCode, actor } = event;
  const created = msOf(event.createTime) ?? nowMs;
  return (
    <>
      <b>{visibleText(type)}</b>
      <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
      <span>{visibleText([errorCode, kid || publicKey].filter((each) => each !== "").join(" · "))}</span>
      <span>by {visibleText(actor)}</span>
    </>
  );
}

function OneEvent({ event }: { readonly event: TrustEvent | undefined }) {
  if (event === undefined) {
    return <p className="hint">This event is not in the list so far.</p>;
  }
  const created = msOf(event.createTime);
  return (
    <div className="job">
      <h2>{visibleText(event.type)}</h2>
      <dl className="facts">
        <Fact name="when">{created !== undefined && formatTime(created)}</Fact>
        <Fact name="by">{visibleText(event.actor)}</Fact>
        <Fact name="key">{visibleText(event.kid)}</Fact>
        <Fact name="code">{visibleText(event.errorCode)}</Fact>
        <Fact name="public key">{event.publicKey !== "" && <Mono text={event.publicKey} />}</Fact>
        <Fact name="document SHA-256">{event.documentSha256 !== "" && <Mono text={event.documentSha256} />}</Fact>
      </dl>
      {event.detail !== undefined && <JsonBlock label="detail" json={event.detail} />}
    </div>
  );
}
