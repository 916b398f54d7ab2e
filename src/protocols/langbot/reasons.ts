// The reasons of failure of runners, their runs and the host API.

import { Code } from "@connectrpc/connect";
import { nameReasons } from "../../platform/base/reasons.ts";

/** The reasons of failure of runners, their runs and the host API. */
export const reasons = nameReasons({
  RUNNER_NOT_FOUND: {
    code: Code.NotFound,
    about: "No runner has this id, or its worker is not registered.",
    fix: "Start its worker, which registers the runner; `runnel runners list` shows the ids.",
  },
  RUNNER_UNREACHABLE: {
    code: Code.Unavailable,
    httpStatus: 502,
    about: "The runners at the URL could not be listed.",
    fix: "Correct what the message names: the URL, or the program behind it.",
  },
  BINDING_NOT_FOUND: {
    code: Code.NotFound,
    about: "No binding has this id, or no enabled binding matches the event.",
    fix: "Add or enable a binding that matches the event.",
  },
  BINDING_AMBIGUOUS: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "Several enabled bindings match the event; the metadata has their ids.",
    fix: "Disable or delete all but one.",
  },
  WORKER_SESSION_NOT_FOUND: {
    code: Code.NotFound,
    about: "The service does not know the session of the worker, for instance after a silence.",
    fix: "Register the runners again.",
  },
  OFFER_TAKEN: {
    code: Code.Aborted,
    about: "The offer has expired, or another worker has accepted the run.",
    fix: "Wait for the next offer.",
  },
  ATTEMPT_STALE: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The reported attempt does not own the run, for instance after a silence of its worker.",
    fix: "Stop working on the run.",
  },
  GRANT_REFUSED: {
    code: Code.PermissionDenied,
    about: "The run has no grant for this call, or is not active.",
    fix: "Read the message, which says which of the two; change the binding to grant more.",
  },
  RUN_DEADLINE_EXCEEDED: {
    code: Code.DeadlineExceeded,
    about: "The deadline of the run has passed.",
    fix: "Stop working on the run. A retry does not help.",
  },
  HOST_CALL_FAILED: {
    code: Code.Internal,
    httpStatus: 502,
    about: "A model or a tool that the runner called has failed.",
    fix: "Read the message, and handle it as the failure of that model or tool.",
  },
  HOST_CALL_UNAVAILABLE: {
    code: Code.Unavailable,
    about: "A model or a tool that the runner called cannot be used at the moment.",
    fix: "Retry after a moment.",
  },
  APPROVAL_REQUIRED: {
    code: Code.PermissionDenied,
    about: "The tool waits for a person, and no unused approval allows this call.",
    fix: "Report an `action.requested` with the members that the message names, and give its sequence in `approval_sequence`.",
  },
  KNOWLEDGE_BASE_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no knowledge base with this id.",
    fix: "Create it first, or list the knowledge bases.",
  },
});
