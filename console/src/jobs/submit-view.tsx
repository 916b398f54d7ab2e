// Submits a signed JobSpec. Before it is sent, a person sees what it says and, as the operator, what the service says about it.

import { createClient } from "@connectrpc/connect";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { TrustService, type VerifyJobSpecResponse } from "#gen/runnel/job/v1/trust_service_pb.js";
import { RunnelError } from "../../../clients/typescript/src/error.ts";
import { adminToken } from "../api/access.ts";
import { adminTransport, transport } from "../api/transport.ts";
import { useStore } from "../lib/store.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Fact } from "../ui/fact.tsx";
import { Failure } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { AskedFacts, Mono, StampFacts } from "./spec-facts.tsx";
import { SpecReport } from "./spec-report.tsx";
import { memberOf, readSpec, type SpecText, textAt } from "./spec-text.ts";

const jobs = createClient(JobService, transport);
const trust = createClient(TrustService, adminTransport);
/** The service takes no larger document. */
const documentBytesMax = 1_048_576;

interface Draft {
  readonly text: string;
  /** A retry with the same text must not submit it twice. */
  readonly requestId: string;
}

function draftOf(text: string): Draft {
  return { text, requestId: crypto.randomUUID() };
}

/** What the service has answered about the text that is shown. */
interface Answer {
  readonly report?: VerifyJobSpecResponse;
  readonly error?: unknown;
}

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function SubmitView() {
  const [, navigate] = useLocation();
  const token = useStore(adminToken);
  const [{ text, requestId }, setDraft] = useState(() => draftOf(""));
  const [answer, setAnswer] = useState<Answer>({});
  const [isBusy, setBusy] = useState(false);
  const read = readSpec(text);
  const write = (next: string): void => {
    setDraft(draftOf(next));
    setAnswer({});
  };
  const document = () => ({ contentType: "application/json", data: new TextEncoder().encode(text) });
  const call = async (work: () => Promise<Answer>): Promise<void> => {
    setBusy(true);
    setAnswer(await work().catch((error: unknown) => ({ error })));
    setBusy(false);
  };
  const submit = async (): Promise<Answer> => {
    const { id } = await jobs.submitJob({ document: document(), requestId });
    showToast({ tone: "good", text: "The service has accepted the job." });
    navigate(`/jobs/${id}`);
    return {};
  };
  const verify = async (): Promise<Answer> => ({ report: await trust.verifyJobSpec({ document: document() }) });
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>
          <Link href="/jobs" className="crumb">
            Jobs
          </Link>
          Submit a JobSpec
        </h1>
      </header>
      <div className="side-by-side">
        <form
          className="panel form"
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            void call(submit);
          }}
        >
          <label className="field">
            Signed JobSpec
            <textarea
              className="input mono"
              rows={16}
              required
              spellCheck={false}
              placeholder='{"jobspec_id": …'
              value={text}
              onInput={({ currentTarget }) => write(currentTarget.value)}
            />
          </label>
          <label className="field">
            Or its file
            <input
              type="file"
              className="input"
              accept=".json,application/json"
              onChange={({ currentTarget }) => void readFile(currentTarget.files?.[0], write)}
            />
          </label>
          <div className="actions">
            <button type="submit" className="button primary" disabled={isBusy || read === undefined}>
              Submit
            </button>
            <button
              type="button"
              className="button"
              disabled={isBusy || read === undefined || token === undefined}
              onClick={() => void call(verify)}
            >
              Verify first
            </button>
          </div>
          <p className="hint">
            {token === undefined
              ? "With the admin token, which you enter under Credentials, Verify first says what the service would answer."
              : "Verify first stores nothing and leaves the nonce unused. The service answers it once in 10 seconds."}
          </p>
        </form>
        <div className="form">
          {answer.error !== undefined && <Refusal error={answer.error} spec={read?.spec ?? {}} />}
          {answer.report !== undefined && <SpecReport response={answer.report} />}
          <Preview text={text} read={read} />
        </div>
      </div>
    </div>
  );
}

async function readFile(file: File | undefined, onText: (text: string) => void): Promise<void> {
  if (file !== undefined && file.size > documentBytesMax) {
    showToast({ tone: "bad", text: `${visibleText(file.name)} has more than 1 MiB: a JobSpec has a few kilobytes.` });
  } else if (file !== undefined) {
    onText(await file.text());
  }
}

function Preview({ text, read }: { readonly text: string; readonly read: SpecText | undefined }) {
  if (read === undefined) {
    return (
      <p className="hint">
        {text.trim() === "" ? "What the document says appears here, before it is sent." : "This is not a JSON object."}
      </p>
    );
  }
  const { spec, wrapper } = read;
  const version = textAt(spec, "sig_v") || "1";
  return (
    <section className="panel" aria-label="What it says">
      <h2>What it says</h2>
      <AskedFacts spec={spec} />
      <h3>Signature</h3>
      <dl className="facts">
        <Fact name="key">
          <Mono text={textAt(spec, "public_key") || "missing"} />
        </Fact>
        <Fact name="signature">{textAt(spec, "signature") === "" ? "missing" : `version ${visibleText(version)}`}</Fact>
        <StampFacts spec={spec} />
      </dl>
      {wrapper !== undefined && (
        <>
          <h3>Wrapper, which no signature covers</h3>
          <dl className="facts">
            <Fact name="narrowed to">{visibleText(textAt(wrapper, "target_regions"))}</Fact>
            <Fact name="needs">{visibleText(textAt(wrapper, "min_regions"))}</Fact>
            <Fact name="success rate">{visibleText(textAt(wrapper, "min_success_rate"))}</Fact>
          </dl>
        </>
      )}
    </section>
  );
}

/** A refused spec has a code of the signing contract, and mostly a member that is wrong. */
function Refusal({ error, spec }: { readonly error: unknown; readonly spec: object }) {
  const { message, metadata } = RunnelError.from(error);
  const code = metadata.error_code;
  if (code === undefined) {
    return <Failure error={error} />;
  }
  const member = memberOf(spec, code, message);
  return (
    <section className="notice" role="alert">
      <h2>The service refuses this spec</h2>
      <p>{visibleText(message)}</p>
      <dl className="facts">
        <Fact name="code">
          <Mono text={code} />
        </Fact>
        <Fact name="field">{member !== "" && <Mono text={member} />}</Fact>
        <Fact name="it has">{member !== "" && <Mono text={textAt(spec, member) || "nothing"} />}</Fact>
      </dl>
    </section>
  );
}
