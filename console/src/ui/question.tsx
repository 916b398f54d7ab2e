// A question before an action that cannot be taken back. It stays open, with the reason, when the action fails.

import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./notice.tsx";

export function Question({
  title,
  yes,
  no,
  onYes,
  onClose,
  children,
}: {
  readonly title: string;
  readonly yes: string;
  readonly no: string;
  readonly onYes: () => Promise<void>;
  readonly onClose: () => void;
  /** What the action does. */
  readonly children: ReactNode;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await onYes();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        {children}
        {error !== undefined && <Failure error={error} />}
        <div className="actions">
          <button type="button" className="button danger" disabled={isBusy} onClick={() => void act()}>
            {yes}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {no}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
