// One decision about several approvals. The list of them is that of the moment in which it opened, each with the digest that the
// decision is bound to: what arrives or changes meanwhile is not decided.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Approval, Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { transport } from "../api/transport.ts";
import { failureText } from "../lib/failure-text.ts";
import { formatCount, shortId } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { askerOf } from "./approvals-filter.tsx";
import { Comment, Request } from "./decision.tsx";

const service = createClient(ApprovalService, transport);
const { APPROVE, REJECT } = Approval_Decision;

/** A person reads the list before the decision. */
const severalMax = 50;

export function DecideSeveral({
  approvals,
  onClose,
}: {
  readonly approvals: readonly Approval[];
  readonly onClose: () => void;
}) {
  const [left, setLeft] = useState(approvals.slice(0, severalMax));
  const [omitted, setOmitted] = useState<ReadonlySet<string>>(new Set());
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [comment, setComment] = useState("");
  const [isBusy, setBusy] = useState(false);
  const chosen = left.filter(({ approvalId }) => !omitted.has(approvalId));
  const decide = async (decision: Approval_Decision): Promise<void> => {
    setBusy(true);
    const failed = new Map<string, string>();
    for (const { approvalId, digest } of chosen) {
      await service
        .decideApproval({ approvalId, digest, decision, comment: comment.trim() })
        .catch((failure: unknown) => failed.set(approvalId, failureText(failure)));
    }
    setBusy(false);
    const count = formatCount(chosen.length - failed.size);
    showToast({ tone: "good", text: `${decision === APPROVE ? "Approved" : "Rejected"}: ${count}.` });
    if (failed.size === 0) {
      onClose();
      return;
    }
    setProblems(failed);
    setLeft(left.filter(({ approvalId }) => failed.has(approvalId)));
  };
  const toggle = (approvalId: string): void => {
    const next = new Set(omitted);
    if (!next.delete(approvalId)) {
      next.add(approvalId);
    }
    setOmitted(next);
  };
  return (
    <Dialog title={`Decide about ${formatCount(chosen.length)}`} onClose={onClose}>
      <form className="form" onSubmit={(event) => event.preventDefault()}>
        <ul className="several" aria-label="What is decided">
          {left.map((approval) => (
            <li key={approval.approvalId}>
              <label className="check">
                <input
                  type="checkbox"
                  checked={!omitted.has(approval.approvalId)}
                  onChange={() => toggle(approval.approvalId)}
                />
                <span>
                  <b>{visibleText(approval.action)}</b> <bdi className="mono">{visibleText(approval.subject)}</bdi>
                </span>
              </label>
              <p className="hint digest">
                {visibleText(askerOf(approval))} · session {shortId(approval.sessionId)} · SHA-256{" "}
                <span className="mono">{approval.digest}</span>
              </p>
              {problems.has(approval.approvalId) && (
                <p className="problem" role="alert">
                  Not decided: {problems.get(approval.approvalId)}
                </p>
              )}
              <WholeRequest approvalId={approval.approvalId} />
            </li>
          ))}
        </ul>
        {approvals.length > severalMax && (
          <p className="hint">These are the first {severalMax}. Decide about the others after them.</p>
        )}
        <Comment text={comment} onChange={setComment} />
        <div className="actions">
          <button
            type="button"
            className="button primary"
            disabled={isBusy || chosen.length === 0}
            onClick={() => void decide(APPROVE)}
          >
            Approve {formatCount(chosen.length)}
          </button>
          <button
            type="button"
            className="button"
            disabled={isBusy || chosen.length === 0}
            onClick={() => void decide(REJECT)}
          >
            Reject {formatCount(chosen.length)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Loads the request when a person opens it: a list has no requests. */
function WholeRequest({ approvalId }: { readonly approvalId: string }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery(ApprovalService.method.getApproval, { approvalId }, { enabled: isOpen });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The whole request</summary>
      {error !== null && <Failure error={error} />}
      {isOpen && error === null && data === undefined && <Loading what="the request" />}
      {data?.approval !== undefined && <Request approval={data.approval} />}
    </details>
  );
}
