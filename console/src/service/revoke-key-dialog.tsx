// Asks before an API key ends: a revoked key never works again.

import { createClient } from "@connectrpc/connect";
import { useState } from "react";
import type { ApiKey } from "#gen/runnel/v1/auth_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { adminTransport } from "../api/transport.ts";
import { AdminFailure } from "../frame/admin-gate.tsx";
import { visibleText } from "../lib/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { showToast } from "../ui/toasts.tsx";

const service = createClient(AuthService, adminTransport);

export function RevokeKeyDialog({
  apiKey: { keyId, clientId, displayName },
  onRevoked,
  onClose,
}: {
  readonly apiKey: ApiKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}) {
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const revoke = async (): Promise<void> => {
    setBusy(true);
    try {
      await service.revokeApiKey({ keyId });
      showToast({ tone: "good", text: "The key is revoked." });
      onRevoked();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
      <div className="form">
        <p>
          Every replica refuses calls with the key <b>{visibleText(displayName) || keyId}</b> of{" "}
          <b>{visibleText(clientId)}</b> from then on. A revoked key never works again.
        </p>
        <p className="hint">Streams that it opened continue until their next reconnect.</p>
        {error !== undefined && <AdminFailure error={error} />}
        <div className="actions">
          <button type="button" className="button danger" disabled={isBusy} onClick={() => void revoke()}>
            Revoke the key
          </button>
          <button type="button" className="button" onClick={onClose}>
            Keep it
          </button>
        </div>
      </div>
    </Dialog>
  );
}
