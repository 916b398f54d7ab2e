// One approval as a person decides about it: the whole request, its digest, and the two buttons.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { lazy, type ReactNode, Suspense, useEffect, useId, useState } from "react";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { transport } from "../api/transport.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatDuration, formatTime, msOf } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { changesOf } from "../run/changes-of.ts";
import { type SchemaForm, useSchemaForm } from "../schema-form/use-schema-form.tsx";
import { CodeBlock, JsonBlock } from "../ui/code-block.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { approvalChanges, isPending } from "./approval-changes.ts";

const DiffBlock = lazy(() => import("../run/diff-block.tsx"));

const service = createClient(ApprovalService, transport);
const { APPROVE, REJECT } = Approval_Decision;

const labels = {
  [Approval_State.UNSPECIFIED]: ["unknown", "queued"],
  [Approval_State.PENDING]: ["pending", "waiting"],
  [Approval_State.APPROVED]: ["approved", "completed"],
  [Approval_State.REJECTED]: ["rejected", "failed"],
  [Approval_State.EXPIRED]: ["expired", "cancelled"],
  [Approval_State.USED]: ["used", "completed"],
} as const satisfies Record<Approval_State, readonly [string, string]>;

export function ApprovalLabel({ state }: { readonly state: Approval_State }) {
  const [name, look] = labels[state] ?? labels[Approval_State.UNSPECIFIED];
  return (
    <span className="state" data-state={look}>
      {name}
    </span>
  );
}

/** Loads an approval with its request, and shows `children` of it as it is now. */
export function OneApproval({
  approvalId,
  children,
}: {
  readonly approvalId: string;
  readonly children?: (approval: Approval) => ReactNode;
}) {
  const { data, error, refetch } = useQuery(ApprovalService.method.getApproval, { approvalId });
  const changed = useChanges(approvalChanges).items.get(approvalId)?.state;
  const approval = data?.approval;
  useEffect(() => {
    if (changed !== undefined) {
      void refetch();
    }
  }, [changed, refetch]);
  if (approval === undefined) {
    return error === null ? <Loading what="the approval" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div className="approval">
      {children?.(approval)}
      <Request approval={approval} />
      {isPending(approval) ? (
        // Another request is another question: what was typed for the former one must not answer it.
        approval.form === undefined ? (
          <DecisionForm key={approval.digest} approval={approval} onStale={refetch} />
        ) : (
          <FilledForm key={approval.digest} approval={approval} schema={approval.form} onStale={refetch} />
        )
      ) : (
        <Outcome approval={approval} />
      )}
    </div>
  );
}

/**
 * The whole request, because the decision is about every byte of it. A command is shown again as a terminal would, and a change of a
 * file as its lines.
 */
export function Request({ approval: { request = "", digest } }: { readonly approval: Approval }) {
  const payload = payloadOf(request);
  const { command } = payload;
  return (
    <>
      {typeof command === "string" && (
        <CodeBlock label="command" tone="terminal" language="shell" text={`$ ${command}`} />
      )}
      {changesOf(payload).map((change, index) => (
        <Suspense key={index} fallback={<Loading what="the change" />}>
          <DiffBlock change={change} />
        </Suspense>
      ))}
      <JsonBlock label="the whole request: action, target, payload" json={request} />
      <p className="hint digest">
        SHA-256 <span className="mono">{digest}</span>
      </p>
    </>
  );
}

function payloadOf(request: string): Readonly<Record<string, unknown>> {
  try {
    const { payload } = JSON.parse(request) as { payload?: unknown };
    return typeof payload === "object" && payload !== null ? { ...payload } : {};
  } catch {
    return {};
  }
}

/** The question of a server: approving it sends the values. */
function FilledForm({ schema, ...props }: Omit<DecisionProps, "form"> & { readonly schema: string }) {
  const form = useSchemaForm(schema, "Values");
  return <DecisionForm {...props} form={form} />;
}

interface DecisionProps {
  readonly approval: Approval;
  readonly form?: SchemaForm;
  readonly onStale: () => Promise<unknown>;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function DecisionForm({ approval: { approvalId, digest, expireTime, request = "" }, form, onStale }: DecisionProps) {
  const nowMs = useNow();
  const [comment, setComment] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const decide = async (decision: Approval_Decision): Promise<void> => {
    const values = decision === APPROVE ? form?.read() : "";
    if (values === undefined && form !== undefined) {
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await service.decideApproval({ approvalId, digest, decision, comment: comment.trim(), values: values ?? "" });
      showToast({ tone: "good", text: decision === APPROVE ? "Approved. The run continues." : "Rejected." });
    } catch (failure) {
      // The request has changed, or it is decided or expired: show it as it is now.
      if (ConnectError.from(failure).code === Code.FailedPrecondition) {
        showToast({ tone: "bad", text: `Nothing was decided: ${ConnectError.from(failure).rawMessage}` });
      } else {
        setError(failure);
      }
    }
    setBusy(false);
    await onStale();
  };
  const expireMs = msOf(expireTime);
  return (
    <form className="form decision" onSubmit={(event) => event.preventDefault()}>
      {form === undefined ? (
        <Comment text={comment} onChange={setComment} />
      ) : (
        <>
          <p dir="auto">{visibleText(textOf(payloadOf(request).message))}</p>
          {form.fields}
          <p className="hint">The server gets these values, and no log has them.</p>
        </>
      )}
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="button" className="button primary" disabled={isBusy} onClick={() => void decide(APPROVE)}>
          <Icon name="check" />
          {form === undefined ? "Approve" : "Send the values"}
        </button>
        <button type="button" className="button" disabled={isBusy} onClick={() => void decide(REJECT)}>
          <Icon name="close" />
          {form === undefined ? "Reject" : "Decline"}
        </button>
        {form?.change}
        {expireMs !== undefined && (
          <span className="hint" title={formatTime(expireMs)}>
            expires in {formatDuration(expireMs - nowMs)}
          </span>
        )}
      </div>
    </form>
  );
}

export function Comment({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Comment for models and for later readers</label>
      <textarea
        id={id}
        className="input"
        rows={2}
        maxLength={1024}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

function Outcome({ approval: { state, decidedBy, decideTime, comment, useTime } }: { readonly approval: Approval }) {
  const [decided, used] = [msOf(decideTime), msOf(useTime)];
  return (
    <div className="outcome">
      <p>
        <ApprovalLabel state={state} />{" "}
        {decided === undefined
          ? "The time to decide is over."
          : `Decided by ${visibleText(decidedBy)}, ${formatTime(decided)}.`}
        {used !== undefined && ` The approval was used ${formatTime(used)}.`}
      </p>
      {comment !== "" && <blockquote>{visibleText(comment)}</blockquote>}
    </div>
  );
}
