// Asks for the credentials of this page. The view behind it stays as it is.

import { ConnectError, createClient } from "@connectrpc/connect";
import { type FormEvent, useId, useRef, useState } from "react";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { access, adminToken, dismissQuestion, setAdminToken, setApiKey } from "../api/access.ts";
import { transportWith } from "../api/transport.ts";
import { failureText } from "../lib/failure-text.ts";
import { useStore } from "../lib/store.ts";
import { Dialog } from "../ui/dialog.tsx";
import { showToast } from "../ui/toasts.tsx";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function AccessDialog({ onClose }: { readonly onClose: () => void }) {
  const { apiKey, isAsked, refusal } = useStore(access);
  const close = (): void => {
    dismissQuestion();
    onClose();
  };
  const hasKey = apiKey !== undefined;
  const asked = hasKey ? "The service refuses your API key" : "The service asks for an API key";
  return (
    <Dialog title={isAsked ? asked : "Credentials"} onClose={close}>
      {isAsked && hasKey && refusal !== undefined && (
        <p>The key {refusal}. The page keeps what it shows. Enter another key to continue.</p>
      )}
      <KeyForm hasKey={hasKey} onDone={close} />
      <hr />
      <AdminForm />
    </Dialog>
  );
}

function KeyForm({ hasKey, onDone }: { readonly hasKey: boolean; readonly onDone: () => void }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const key = String(fields.get("key")).trim();
    setBusy(true);
    try {
      setApiKey(key, await tryKey(key), fields.get("keep") === "on");
      onDone();
    } catch (error) {
      setProblem(failureText(error));
      field.current?.focus();
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={`${id}key`}>API key</label>
      <input
        ref={field}
        id={`${id}key`}
        name="key"
        type="password"
        className="input mono"
        autoComplete="off"
        spellCheck={false}
        required
        aria-describedby={`${id}problem ${id}about`}
        aria-invalid={problem !== undefined}
      />
      {problem !== undefined && (
        <p id={`${id}problem`} className="problem" role="alert">
          {problem}
        </p>
      )}
      <label className="check">
        <input type="checkbox" name="keep" />
        Keep it until this tab is closed
      </label>
      <p id={`${id}about`} className="hint">
        The key stays in the memory of this page and goes to this service only. <code>runnel keys create</code> makes
        one.
      </p>
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Use this key
        </button>
        {hasKey && (
          <button type="button" className="button" onClick={() => setApiKey(undefined, undefined, false)}>
            Forget the key
          </button>
        )}
      </div>
    </form>
  );
}

/** Calls the service with a key, and returns the client of the key. Throws when it is refused, or cannot be a key: a header holds only visible ASCII. */
async function tryKey(key: string): Promise<string> {
  if (!/^[!-~]+$/.test(key)) {
    throw new ConnectError("a key has only letters, digits and signs of ASCII, and no space: copy it again");
  }
  return (await createClient(SystemService, transportWith(key)).getUsage({})).clientId;
}

/** Takes the admin token, and forgets it on request. */
export function AdminForm() {
  const id = useId();
  const token = useStore(adminToken);
  if (token !== undefined) {
    return (
      <div className="form">
        <p>The operator's views are open. The page forgets the token 15 minutes after you entered it.</p>
        <div className="actions">
          <button type="button" className="button" onClick={() => setAdminToken(undefined)}>
            Forget it now
          </button>
        </div>
      </div>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setAdminToken(String(new FormData(event.currentTarget).get("token")).trim());
    showToast({ tone: "good", text: "The page keeps the admin token for 15 minutes." });
  };
  return (
    <form className="form" onSubmit={submit}>
      <label htmlFor={`${id}token`}>Admin token, for the operator's views</label>
      <input
        id={`${id}token`}
        name="token"
        type="password"
        className="input mono"
        autoComplete="off"
        spellCheck={false}
        required
      />
      <div className="actions">
        <button type="submit" className="button">
          Use for 15 minutes
        </button>
      </div>
    </form>
  );
}
