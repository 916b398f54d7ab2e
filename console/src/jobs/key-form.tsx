// The form that adds a trusted key, or changes its validity and its scope.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type FormEvent, useState } from "react";
import type { TrustedKey } from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { adminTransport } from "../api/transport.ts";
import { msOf } from "../lib/format.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { readPublicKey } from "./public-key.ts";

const trust = createClient(TrustService, adminTransport);

/** The members that can change, by the names of their fields. */
const terms = {
  notBefore: "not_before",
  notAfter: "not_after",
  clientIds: "client_ids",
  regions: "regions",
  runners: "runners",
} as const;

type Term = keyof typeof terms;
type Texts = Readonly<Record<Term, string>>;

/** Adds a key, or changes the one that is given. */
export function KeyForm({
  known,
  onSaved,
  onClose,
}: {
  readonly known?: TrustedKey;
  readonly onSaved: (kid: string) => void;
  readonly onClose: () => void;
}) {
  const [error, setError] = useState<unknown>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const first = textsOf(known);
  const save = async (fields: FormData): Promise<void> => {
    const texts = readTexts(fields);
    const kid = known?.kid ?? textOf(fields, "kid");
    if (known !== undefined) {
      const changed = (Object.keys(terms) as Term[]).filter((term) => texts[term] !== first[term]);
      const updateMask = { paths: changed.map((term) => terms[term]) };
      await trust.updateTrustedKey({ key: { kid, ...termsOf(texts) }, updateMask });
    } else {
      const read = readPublicKey(textOf(fields, "publicKey"));
      if ("problem" in read) {
        setProblem(read.problem);
        return;
      }
      await trust.createTrustedKey({ key: { kid, publicKey: read.base64, ...termsOf(texts) } });
    }
    showToast({ tone: "good", text: known === undefined ? `The service trusts ${kid} now.` : `${kid} is changed.` });
    onSaved(kid);
    onClose();
  };
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    setProblem(undefined);
    await save(fields).catch(setError);
    setBusy(false);
  };
  return (
    <Dialog title={known === undefined ? "Add a trust key" : `Change ${known.kid}`} onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        {known === undefined && (
          <>
            <label className="field">
              Name
              <input
                name="kid"
                className="input mono"
                required
                pattern="[A-Za-z0-9._\-]{1,128}"
                title="1 to 128 letters, digits, dots, underscores and hyphens"
                autoComplete="off"
                spellCheck={false}
                placeholder="portal-1"
              />
            </label>
            <label className="field">
              Public key: PEM, JWK or base64
              <textarea
                name="publicKey"
                className="input mono"
                rows={3}
                required
                spellCheck={false}
                aria-invalid={problem !== undefined}
              />
            </label>
          </>
        )}
        {problem !== undefined && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <Term name="notBefore" label="Valid from" type="datetime-local" texts={first} />
        <Term name="notAfter" label="Valid until" type="datetime-local" texts={first} />
        <Term name="clientIds" label="Clients" texts={first} />
        <div className="field-row">
          <Term name="regions" label="Regions" texts={first} />
          <Term name="runners" label="Runners" texts={first} />
        </div>
        <p className="hint">Write commas between several. An empty field means no limit.</p>
        {error !== undefined && <Failure error={error} />}
        <div className="actions">
          <button type="submit" className="button primary" disabled={isBusy}>
            {known === undefined ? "Add" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Term({
  name,
  label,
  type,
  texts,
}: {
  readonly name: Term;
  readonly label: string;
  readonly type?: "datetime-local";
  readonly texts: Texts;
}) {
  return (
    <label className="field">
      {label}
      <input
        name={name}
        type={type}
        className="input"
        defaultValue={texts[name]}
        autoComplete="off"
        spellCheck={false}
      />
    </label>
  );
}

function textOf(fields: FormData, name: string): string {
  return String(fields.get(name) ?? "").trim();
}

function readTexts(fields: FormData): Texts {
  return {
    notBefore: textOf(fields, "notBefore"),
    notAfter: textOf(fields, "notAfter"),
    clientIds: textOf(fields, "clientIds"),
    regions: textOf(fields, "regions"),
    runners: textOf(fields, "runners"),
  };
}

function textsOf(key: TrustedKey | undefined): Texts {
  return {
    notBefore: localTime(msOf(key?.notBefore)),
    notAfter: localTime(msOf(key?.notAfter)),
    clientIds: (key?.clientIds ?? []).join(", "),
    regions: (key?.regions ?? []).join(", "),
    runners: (key?.runners ?? []).join(", "),
  };
}

function termsOf({ notBefore, notAfter, clientIds, regions, runners }: Texts) {
  return {
    ...(notBefore !== "" && { notBefore: timestampFromMs(Date.parse(notBefore)) }),
    ...(notAfter !== "" && { notAfter: timestampFromMs(Date.parse(notAfter)) }),
    clientIds: split(clientIds),
    regions: split(regions),
    runners: split(runners),
  };
}

function split(text: string): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** The time of this place as the field writes it: `2031-12-31T23:59`. */
function localTime(timeMs: number | undefined): string {
  if (timeMs === undefined) {
    return "";
  }
  const offsetMs = new Date(timeMs).getTimezoneOffset() * 60_000;
  return new Date(timeMs - offsetMs).toISOString().slice(0, 16);
}
