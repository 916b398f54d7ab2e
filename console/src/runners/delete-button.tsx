// A button that deletes something after a question, and leads back to the lists.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";

export function DeleteButton({
  what,
  onDelete,
  children,
}: {
  /** Example: `the binding`. */
  readonly what: string;
  readonly onDelete: () => Promise<unknown>;
  /** What the deletion means. */
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const perform = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await onDelete();
      showToast({ tone: "good", text: `Deleted ${what}.` });
      // A call for a deleted thing would fail, so only the next view loads anew.
      await queries.invalidateQueries({ refetchType: "none" });
      navigate("/runners");
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className="button" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking && (
        <Dialog title={`Delete ${what}?`} onClose={() => setAsking(false)}>
          <div className="form">
            {children}
            {error !== undefined && <Failure error={error} />}
            <div className="actions">
              <button type="button" className="button danger" disabled={isBusy} onClick={() => void perform()}>
                Delete it
              </button>
              <button type="button" className="button" onClick={() => setAsking(false)}>
                Keep it
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
