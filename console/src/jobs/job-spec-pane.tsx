// Why a JobSpec would be accepted or refused: the checks of the service, and the canonical bytes beside those that were signed.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "wouter";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { TrustService, type VerifyJobSpecResponse } from "#gen/runnel/job/v1/trust_service_pb.js";
import { adminToken } from "../api/access.ts";
import { adminTransport } from "../api/transport.ts";
import { useStore } from "../lib/store.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Failure } from "../ui/notice.tsx";
import { type Cut, findDifference } from "./first-difference.ts";
import { SpecReport } from "./spec-report.tsx";

const trust = createClient(TrustService, adminTransport);

interface Answer {
  readonly response: VerifyJobSpecResponse;
  readonly signed: string;
}

export function JobSpecPane() {
  const token = useStore(adminToken);
  const [parameters] = useSearchParams();
  const jobId = parameters.get("job") ?? "";
  const { data } = useQuery(JobService.method.getJob, { id: jobId }, { enabled: jobId !== "" });
  const submitted = data?.job?.document ?? "";
  const [answer, setAnswer] = useState<Answer | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [spec, signed] = [readField(fields, "spec"), readField(fields, "signed")];
    setBusy(true);
    try {
      const encoder = new TextEncoder();
      const document = { contentType: "application/json", data: encoder.encode(spec) };
      const response = await trust.verifyJobSpec({ document, signedBytes: encoder.encode(signed) });
      setAnswer({ response, signed });
      setFailure(undefined);
    } catch (error) {
      setAnswer(undefined);
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <form className="panel form" onSubmit={(event) => void submit(event)}>
        <div className="side-by-side">
          <label className="field">
            Signed JobSpec
            <textarea
              // The spec of a job fills the field when it arrives.
              key={submitted}
              defaultValue={submitted}
              name="spec"
              className="input mono"
              rows={10}
              required
              spellCheck={false}
              placeholder='{"jobspec_id": …'
            />
          </label>
          <label className="field">
            The bytes that the signer signed (optional)
            <textarea name="signed" className="input mono" rows={10} spellCheck={false} />
          </label>
        </div>
        <p className="hint">
          Nothing is stored, and the nonce stays unused. The service answers once in 10 seconds, with the admin token
          {token === undefined && ": enter it under Credentials"}.
        </p>
        <div className="actions">
          <button type="submit" className="button primary" disabled={isBusy}>
            Verify
          </button>
        </div>
      </form>
      {failure !== undefined && <Failure error={failure} />}
      {answer !== undefined && <Report {...answer} />}
    </>
  );
}

/** A form sends lines with CR LF; the text has what was typed. */
function readField(fields: FormData, name: string): string {
  return String(fields.get(name)).replaceAll("\r\n", "\n");
}

function Report({ response, signed }: Answer) {
  return (
    <>
      <SpecReport response={response} />
      {signed === "" ? (
        <CodeBlock label={canonicalLabel(response)} text={response.canonical} />
      ) : (
        <Bytes response={response} signed={signed} />
      )}
    </>
  );
}

function canonicalLabel({ serverCanonicalLen, serverCanonicalSha256 }: VerifyJobSpecResponse): string {
  return `canonical: ${serverCanonicalLen} bytes, SHA-256 ${serverCanonicalSha256}`;
}

function Bytes({ response, signed }: Answer) {
  const difference = findDifference(response.canonical, signed);
  if (difference === undefined) {
    return (
      <>
        <p>The signer's bytes are the canonical bytes.</p>
        <CodeBlock label={canonicalLabel(response)} text={response.canonical} />
      </>
    );
  }
  return (
    <section className="panel">
      <h2>Byte {difference.offset + 1} is the first that differs</h2>
      <div className="side-by-side">
        <Text label={canonicalLabel(response)} cut={difference.expected} />
        <Text label="signed by the signer" cut={difference.given} />
      </div>
    </section>
  );
}

function Text({ label, cut: { before, at, after } }: { readonly label: string; readonly cut: Cut }) {
  return (
    <figure className="code">
      <figcaption>
        <span>{label}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} aria-label={label} role="group">
        <code>
          {visibleText(before)}
          <mark className="first-difference">{at === "" ? "␃" : at === "\n" ? "␊\n" : visibleText(at)}</mark>
          {visibleText(after)}
        </code>
      </pre>
    </figure>
  );
}
