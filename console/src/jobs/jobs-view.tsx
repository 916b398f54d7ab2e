// The signed jobs of this client, filtered by the address, and one job beside them.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link, useSearchParams } from "wouter";
import type { Job } from "#gen/runnel/job/v1/job_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatCount, formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { Inbox, InboxTitle } from "../ui/inbox.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { JobLabel, jobStates } from "./job-label.tsx";
import { nameOf, OneJob } from "./one-job.tsx";

/** The contract has no stream for the list. */
const refreshMs = 3_000;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function JobsView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const chosen = params.jobId;
  const [parameters] = useSearchParams();
  const named = parameters.get("state") ?? "";
  const state = Object.hasOwn(jobStates, named) ? named : undefined;
  const list = useInfiniteQuery(
    JobService.method.listJobs,
    { pageSize: 50, pageToken: "" },
    {
      ...inPages,
      refetchInterval: refreshMs,
    },
  );
  const nowMs = useNow();
  const listed = list.data?.pages.flatMap((page) => page.jobs);
  const jobs = listed?.filter(({ status }) => state === undefined || status === jobStates[state]);
  const more = (): void => {
    if (list.hasNextPage && !list.isFetchingNextPage) {
      void list.fetchNextPage();
    }
  };
  const body = (): React.ReactNode => {
    if (jobs === undefined && chosen === undefined) {
      return list.error === null ? (
        <Loading what="jobs" />
      ) : (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      );
    }
    if (listed?.length === 0 && chosen === undefined) {
      return <Empty />;
    }
    if (jobs?.length === 0 && chosen === undefined) {
      return <p className="hint">No job of these is {state}.</p>;
    }
    return (
      <Inbox
        label="Jobs"
        items={jobs ?? []}
        idOf={({ id }) => id}
        hrefOf={(id) => `/jobs/${id}${state === undefined ? "" : `?state=${state}`}`}
        row={(job) => <Row job={job} nowMs={nowMs} />}
        // A filter is over the jobs that the page has: a rare state must not load them all.
        onEnd={state === undefined ? more : () => undefined}
        chosen={chosen}
        oneLabel="The job"
        one={(id) => <OneJob key={id} jobId={id} />}
      />
    );
  };
  return (
    <div className="view jobs-view">
      <header className="view-head">
        <InboxTitle title="Jobs" href="/jobs" isChosen={chosen !== undefined} />
        <div className="spacer" />
        <Link href="/jobs/keys" className="button">
          <Icon name="key" />
          Trust keys
        </Link>
        <Link href="/jobs/submit" className="button primary">
          <Icon name="plus" />
          Submit a JobSpec
        </Link>
      </header>
      {listed !== undefined && listed.length > 0 && (
        <div className="filter">
          <StateChips />
          {state !== undefined && (
            <span className="hint">
              of {list.hasNextPage ? "the newest " : "all "}
              {formatCount(listed.length)} jobs
            </span>
          )}
          {state !== undefined && list.hasNextPage && (
            <button type="button" className="link" onClick={more}>
              Look further back
            </button>
          )}
        </div>
      )}
      {body()}
    </div>
  );
}

function StateChips() {
  const [parameters, setParameters] = useSearchParams();
  return (
    <fieldset className="chips">
      <legend className="unseen">State</legend>
      {Object.keys(jobStates).map((name) => {
        const isChosen = parameters.get("state") === name;
        return (
          <label key={name} className="chip">
            <input
              type="checkbox"
              checked={isChosen}
              onChange={() => setParameters(isChosen ? {} : { state: name }, { replace: true })}
            />
            {name}
          </label>
        );
      })}
    </fieldset>
  );
}

function Row({ job, nowMs }: { readonly job: Job; readonly nowMs: number }) {
  const { id, benchmark, executions, status, successfulRegions, totalRegions } = job;
  const created = msOf(job.createTime) ?? nowMs;
  const regions = executions.map(({ region }) => region).join(", ");
  return (
    <>
      <b>{visibleText(nameOf(job))}</b>
      <JobLabel state={status} />
      <span>
        <span className="mono">{shortId(id)}</span> · {visibleText(benchmark)} · {visibleText(regions)}
      </span>
      <span title={formatTime(created)}>
        {successfulRegions}/{totalRegions} · {formatAge(nowMs - created)}
      </span>
    </>
  );
}

function Empty() {
  return (
    <EmptyState title="No jobs yet" lines={firstJob}>
      <p>
        A job runs a signed JobSpec once in each of its regions. Its key has to be a{" "}
        <Link href="/jobs/keys">trust key</Link> of the service.
      </p>
    </EmptyState>
  );
}

const firstJob = `runnel keys new --out portal.pem
runnel sign spec.json --key portal.pem --stamp > signed.json
runnel jobs submit signed.json --url ${serviceUrl}`;
