// One job as it changes: the stream of the view.

import { createClient } from "@connectrpc/connect";
import { useEffect, useState } from "react";
import type { Job } from "#gen/runnel/job/v1/job_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { access } from "../api/access.ts";
import { transport } from "../api/transport.ts";
import { useStore } from "../lib/store.ts";
import { follow, type StreamPhase } from "../lib/stream.ts";

const service = createClient(JobService, transport);

interface WatchedJob {
  /** Undefined until the stream has brought it. It has no document. */
  readonly job: Job | undefined;
  readonly phase: StreamPhase;
}

const nothing: WatchedJob = { job: undefined, phase: { name: "connecting" } };

/** Follows a job while the component is shown. */
export function useJobWatch(id: string): WatchedJob {
  const { apiKey } = useStore(access);
  const [watched, setWatched] = useState(nothing);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key may be another client, who must not see this job.
  useEffect(() => {
    setWatched(nothing);
    return follow({
      open: (signal) => service.watchJob({ id }, { signal, timeoutMs: 0 }),
      take: ({ event }) => {
        if (event.case !== "job") {
          return undefined;
        }
        const { value: job } = event;
        setWatched((current) => ({ ...current, job }));
        return Date.now();
      },
      onPhase: (phase) => setWatched((current) => ({ ...current, phase })),
      onResume: () => undefined,
    });
  }, [id, apiKey]);
  return watched;
}
