// The state of a job, and of its run in one region, in the words and looks of runs.

import { Job_State, JobExecution_State } from "#gen/runnel/job/v1/job_pb.js";

/** The states that a filter offers, by their names. */
export const jobStates: Readonly<Record<string, Job_State>> = {
  running: Job_State.RUNNING,
  queued: Job_State.QUEUED,
  completed: Job_State.COMPLETED,
  failed: Job_State.FAILED,
  cancelled: Job_State.CANCELLED,
};

export function JobLabel({ state }: { readonly state: Job_State }) {
  return <Label name={Job_State[state]} />;
}

export function ExecutionLabel({ state }: { readonly state: JobExecution_State }) {
  return <Label name={JobExecution_State[state]} />;
}

/** A state of a later version has no name here. */
function Label({ name = "unknown" }: { readonly name: string | undefined }) {
  const word = name.toLowerCase();
  return (
    <span className="state" data-state={word}>
      {word}
    </span>
  );
}
