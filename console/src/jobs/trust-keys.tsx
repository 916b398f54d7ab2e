// The keys whose JobSpecs the service runs: the list, and one key with what an operator can do to it.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { type TrustedKey, TrustedKey_State } from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { adminTransport } from "../api/transport.ts";
import { adminQuery } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatTime, msOf } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { Inbox } from "../ui/inbox.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { Question } from "../ui/question.tsx";
import { showToast } from "../ui/toasts.tsx";
import { KeyForm } from "./key-form.tsx";
import { Mono } from "./spec-facts.tsx";

const trust = createClient(TrustService, adminTransport);
const pageSize = 250;

export function TrustKeys({ isAdding, onAdded }: { readonly isAdding: boolean; readonly onAdded: () => void }) {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    TrustService.method.listTrustedKeys,
    { pageSize, pageToken: "" },
    {
      ...adminQuery,
      ...inPages,
    },
  );
  const nowMs = useNow();
  const keys = data?.pages.flatMap((page) => page.keys);
  const chosen = parameters.get("key") ?? undefined;
  return (
    <>
      {isAdding && (
        <KeyForm
          onSaved={(kid) => {
            navigate(hrefOf(kid));
            void refetch();
          }}
          onClose={onAdded}
        />
      )}
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {keys === undefined && error === null && <Loading what="trust keys" />}
      {keys?.length === 0 && (
        <EmptyState title="No trust keys yet" lines={firstKey}>
          <p>The service runs a JobSpec when one of these keys has signed it.</p>
        </EmptyState>
      )}
      {keys !== undefined && keys.length > 0 && (
        <Inbox
          label="Trust keys"
          items={keys}
          idOf={({ kid }) => kid}
          hrefOf={hrefOf}
          row={(key) => <Row trusted={key} nowMs={nowMs} />}
          onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
          chosen={chosen}
          oneLabel="The key"
          one={(kid) => <OneKey key={kid} trusted={keys.find((each) => each.kid === kid)} onChanged={refetch} />}
        />
      )}
    </>
  );
}

function hrefOf(kid: string): string {
  return `/jobs/keys?key=${encodeURIComponent(kid)}`;
}

function Row({ trusted, nowMs }: { readonly trusted: TrustedKey; readonly nowMs: number }) {
  return (
    <>
      <b>{visibleText(trusted.kid)}</b>
      <KeyLabel trusted={trusted} nowMs={nowMs} />
      <span>{scopeOf(trusted)}</span>
      <span>{trusted.isConfigured ? "settings" : "database"}</span>
    </>
  );
}

function scopeOf({ clientIds, regions, runners }: TrustedKey): string {
  const limits = [...clientIds, ...regions, ...runners];
  return limits.length === 0 ? "for all clients and regions" : `for ${visibleText(limits.join(", "))}`;
}

function KeyLabel({ trusted, nowMs }: { readonly trusted: TrustedKey; readonly nowMs: number }) {
  const [word, look] = stateOf(trusted, nowMs);
  return (
    <span className="state" data-state={look}>
      {word}
    </span>
  );
}

function stateOf({ status, notBefore, notAfter }: TrustedKey, nowMs: number): readonly [word: string, look: string] {
  if (status === TrustedKey_State.REVOKED) {
    return ["revoked", "failed"];
  }
  if (nowMs < (msOf(notBefore) ?? nowMs)) {
    return ["not yet", "waiting"];
  }
  return nowMs > (msOf(notAfter) ?? nowMs) ? ["expired", "cancelled"] : ["trusted", "completed"];
}

function OneKey({
  trusted,
  onChanged,
}: {
  readonly trusted: TrustedKey | undefined;
  readonly onChanged: () => Promise<unknown>;
}) {
  const nowMs = useNow();
  const [opened, setOpened] = useState<"change" | "revoke" | undefined>(undefined);
  if (trusted === undefined) {
    return <p className="hint">No key of this name is in the list so far.</p>;
  }
  const { kid, publicKey, isConfigured } = trusted;
  const close = (): void => setOpened(undefined);
  const revoke = async (): Promise<void> => {
    await trust.revokeTrustedKey({ kid });
    showToast({ tone: "good", text: `${kid} is revoked.` });
    await onChanged();
  };
  return (
    <div className="job">
      <div className="inbox-head">
        <h2>{visibleText(kid)}</h2>
        <KeyLabel trusted={trusted} nowMs={nowMs} />
        <div className="spacer" />
        {!isConfigured && trusted.status !== TrustedKey_State.REVOKED && (
          <div className="actions">
            <button type="button" className="button" onClick={() => setOpened("change")}>
              Change
            </button>
            <button type="button" className="button" onClick={() => setOpened("revoke")}>
              <Icon name="stop" />
              Revoke
            </button>
          </div>
        )}
      </div>
      <KeyFacts trusted={trusted} />
      <CodeBlock label="public key" text={publicKey} />
      {isConfigured && (
        <p className="hint">This key is in the settings of the service: an operator changes it there.</p>
      )}
      {opened === "change" && <KeyForm known={trusted} onSaved={() => void onChanged()} onClose={close} />}
      {opened === "revoke" && (
        <Question title={`Revoke ${kid}`} yes="Revoke it" no="Keep it" onYes={revoke} onClose={close}>
          <p>
            Every replica refuses its signatures at once, no matter when they were made. Jobs that it has signed and
            that have not begun fail.
          </p>
          <p className="hint">A revocation is permanent.</p>
        </Question>
      )}
    </div>
  );
}

function KeyFacts({ trusted }: { readonly trusted: TrustedKey }) {
  const { notBefore, notAfter, createTime, updateTime, clientIds, regions, runners, thumbprint } = trusted;
  const [from, until, added, changed] = [notBefore, notAfter, createTime, updateTime].map(msOf);
  return (
    <dl className="facts">
      <Fact name="valid from">{from === undefined ? "the beginning" : formatTime(from)}</Fact>
      <Fact name="until">{until === undefined ? "no end" : formatTime(until)}</Fact>
      <Fact name="clients">{listOf(clientIds)}</Fact>
      <Fact name="regions">{listOf(regions)}</Fact>
      <Fact name="runners">{listOf(runners)}</Fact>
      <Fact name="added">{added !== undefined && formatTime(added)}</Fact>
      <Fact name="changed">{changed !== undefined && changed !== added && formatTime(changed)}</Fact>
      <Fact name="thumbprint">
        <Mono text={thumbprint} />
      </Fact>
    </dl>
  );
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? "all" : visibleText(names.join(", "));
}

const firstKey = `runnel keys new --out portal.pem
runnel keys show portal.pem`;
