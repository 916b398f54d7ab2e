// One job: its state as it changes, the run of each region, who signed it, and the spec as it was submitted.

import { createClient } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { type Job, Job_State, type JobExecution } from "#gen/runnel/job/v1/job_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { transport } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { JsonBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Question } from "../ui/question.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { showToast } from "../ui/toasts.tsx";
import { ExecutionLabel, JobLabel } from "./job-label.tsx";
import { useJobWatch } from "./job-watch.ts";
import { Mono, StampFacts } from "./spec-facts.tsx";
import { readSpec } from "./spec-text.ts";

const service = createClient(JobService, transport);

export function OneJob({ jobId }: { readonly jobId: string }) {
  const { data, error, refetch } = useQuery(JobService.method.getJob, { id: jobId });
  const { job: watched, phase } = useJobWatch(jobId);
  const [isCancelling, setCancelling] = useState(false);
  const job = watched ?? data?.job;
  const name = job === undefined ? "Job" : nameOf(job);
  useEffect(() => setTitle(visibleText(name)), [name]);
  if (job === undefined) {
    return error === null ? <Loading what="the job" /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  const cancel = async (): Promise<void> => {
    await service.cancelJob({ id: jobId });
    showToast({ tone: "good", text: "Asked all runs of the job to stop." });
  };
  const isActive = job.status === Job_State.QUEUED || job.status === Job_State.RUNNING;
  return (
    <div className="job">
      <div className="inbox-head">
        <h2>{visibleText(name)}</h2>
        <CopyButton text={job.id} what="the id of the job" />
        <JobLabel state={job.status} />
        <StreamBadge phase={phase} />
        <div className="spacer" />
        {isActive && (
          <button
            type="button"
            className="button"
            disabled={job.cancelRequestTime !== undefined}
            onClick={() => setCancelling(true)}
          >
            <Icon name="stop" />
            {job.cancelRequestTime === undefined ? "Cancel" : "Cancel requested"}
          </button>
        )}
      </div>
      <JobFacts job={job} isActive={isActive} />
      <Regions executions={job.executions} />
      <Signed job={job} document={data?.job?.document ?? ""} />
      {isCancelling && (
        <Question
          title="Cancel this job"
          yes="Cancel the job"
          no="Leave it"
          onYes={cancel}
          onClose={() => setCancelling(false)}
        >
          <p>All runs of this job that have not ended are cancelled. A running run stops at its next step.</p>
          <p className="hint">Regions that have ended stay as they are, and each run keeps its log.</p>
        </Question>
      )}
    </div>
  );
}

/** The name that the signer gave to the spec; not every spec has one. */
export function nameOf({ jobspecId, benchmark }: Job): string {
  return jobspecId === "" ? benchmark : jobspecId;
}

function JobFacts({ job, isActive }: { readonly job: Job; readonly isActive: boolean }) {
  const nowMs = useNow(isActive);
  const [created = nowMs, ended, cancelled] = [job.createTime, job.endTime, job.cancelRequestTime].map(msOf);
  const share = Math.round(job.minSuccessRate * 100);
  return (
    <dl className="facts">
      <Fact name="job">
        <span className="mono" title={job.id}>
          {shortId(job.id)}
        </span>
      </Fact>
      <Fact name="benchmark">{visibleText(job.benchmark)}</Fact>
      <Fact name="version">{visibleText(job.version)}</Fact>
      <Fact name="sent as">{visibleText(job.clientJobId)}</Fact>
      <Fact name="succeeded">
        {job.successfulRegions} of {job.totalRegions} regions; it needs {job.minRegions}
        {share > 0 && `, and ${share} % of them`}
      </Fact>
      <Fact name="accepted">{formatTime(created)}</Fact>
      <Fact name="duration">{formatDuration((ended ?? nowMs) - created)}</Fact>
      <Fact name="cancel requested">{cancelled !== undefined && formatTime(cancelled)}</Fact>
    </dl>
  );
}

function Regions({ executions }: { readonly executions: readonly JobExecution[] }) {
  const isRunning = executions.some(({ endTime }) => endTime === undefined);
  const nowMs = useNow(isRunning);
  return (
    <ul className="lines" aria-label="Regions">
      {executions.map((execution) => (
        <Region key={execution.runId} execution={execution} nowMs={nowMs} />
      ))}
    </ul>
  );
}

function Region({
  execution: { region, runId, status, startTime, endTime, errorCode, error, output },
  nowMs,
}: {
  readonly execution: JobExecution;
  readonly nowMs: number;
}) {
  const [started, ended] = [msOf(startTime), msOf(endTime)];
  return (
    <li className="region">
      <b>{visibleText(region)}</b>
      <ExecutionLabel state={status} />
      <span className="hint">{started !== undefined && formatDuration((ended ?? nowMs) - started)}</span>
      <span className="actions">
        <Link href={`/runs/${runId}`}>Run {shortId(runId)}</Link>
        {ended !== undefined && (
          <Link href={`/runs/${runId}/receipt`} aria-label={`Receipt of ${visibleText(region)}`}>
            Receipt
          </Link>
        )}
      </span>
      {errorCode !== "" && (
        <p className="problem">
          <b>{visibleText(errorCode)}</b> {visibleText(error)}
        </p>
      )}
      {output !== undefined && (
        <details className="fold">
          <summary>
            <Icon name="chevron" />
            Output
          </summary>
          <JsonBlock label={`output of ${visibleText(region)}`} json={output} />
        </details>
      )}
    </li>
  );
}

/** The service has verified what the job says; the rest is in the document, whose signed bytes have the hash. */
function Signed({ job, document }: { readonly job: Job; readonly document: string }) {
  const read = readSpec(document);
  return (
    <>
      <section className="panel" aria-label="Signature">
        <div className="panel-head">
          <h3>Signature</h3>
          {document !== "" && (
            <Link href={`/signatures?job=${job.id}`} className="button">
              <Icon name="seal" />
              Verify again
            </Link>
          )}
        </div>
        <dl className="facts">
          <Fact name="key">
            <Mono text={job.keyId} />
          </Fact>
          <Fact name="algorithm">Ed25519, version {job.signatureVersion}</Fact>
          {read !== undefined && <StampFacts spec={read.spec} />}
          <Fact name="public key">
            <Mono text={job.publicKey} />
          </Fact>
          <Fact name="signed bytes">{formatCount(job.canonicalLen)}</Fact>
          <Fact name="SHA-256">
            <Mono text={job.canonicalSha256} />
          </Fact>
        </dl>
      </section>
      {document !== "" && <JsonBlock label="the spec as submitted" json={document} />}
    </>
  );
}
