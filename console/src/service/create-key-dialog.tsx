// Makes an API key and shows it once. Only this dialog ever has the key: closing it forgets the key.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type FormEvent, useId, useState } from "react";
import { AuthService, type CreateApiKeyResponse } from "#gen/runnel/v1/auth_service_pb.js";
import { adminTransport } from "../api/transport.ts";
import { AdminFailure } from "../frame/admin-gate.tsx";
import { visibleText } from "../lib/visible-text.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";

const service = createClient(AuthService, adminTransport);

export function CreateKeyDialog({
  client,
  onCreated,
  onClose,
}: {
  readonly client: string;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<CreateApiKeyResponse | undefined>(undefined);
  const show = (response: CreateApiKeyResponse): void => {
    setMade(response);
    onCreated();
  };
  return (
    <Dialog title={made === undefined ? "Create an API key" : "Copy the key now"} onClose={onClose}>
      {made === undefined ? <KeyForm client={client} onMade={show} /> : <MadeKey made={made} onClose={onClose} />}
    </Dialog>
  );
}

function KeyForm({
  client,
  onMade,
}: {
  readonly client: string;
  readonly onMade: (response: CreateApiKeyResponse) => void;
}) {
  const id = useId();
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const expireMs = endOfDay(String(fields.get("expires")));
    setBusy(true);
    try {
      const response = await service.createApiKey({
        clientId: String(fields.get("client")).trim(),
        displayName: String(fields.get("name")).trim(),
        ...(expireMs !== undefined && { expireTime: timestampFromMs(expireMs) }),
      });
      onMade(response);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <label className="field">
        Client
        <input
          name="client"
          className="input mono"
          required
          maxLength={128}
          defaultValue={client}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}about`}
        />
      </label>
      <label className="field">
        Name, for people
        <input name="name" className="input" maxLength={64} autoComplete="off" />
      </label>
      <label className="field">
        Last day; empty means that it never expires
        <input name="expires" type="date" className="input" />
      </label>
      <p id={`${id}about`} className="hint">
        All keys of a client see the same sessions and runs. A new id is a new client.
      </p>
      {error !== undefined && <AdminFailure error={error} />}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Create the key
        </button>
      </div>
    </form>
  );
}

/** Returns the end of a day such as `2026-11-24` in this browser's time zone; undefined for an empty field. */
function endOfDay(day: string): number | undefined {
  return day === "" ? undefined : new Date(`${day}T24:00`).getTime();
}

function MadeKey({
  made: { key, apiKey },
  onClose,
}: {
  readonly made: CreateApiKeyResponse;
  readonly onClose: () => void;
}) {
  const client = visibleText(apiKey?.clientId ?? "");
  return (
    <div className="form">
      <p className="warning" role="alert">
        The key is shown only this once: the service stores its hash. Every program that has the key calls as{" "}
        <b>{client}</b>.
      </p>
      <output className="input mono made-key" aria-label="The key">
        {key}
      </output>
      <div className="actions">
        <CopyButton text={key} what="the key" label="Copy" />
        <button type="button" className="button" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </div>
  );
}
