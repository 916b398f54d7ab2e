// The reasons of failure of jobs and of trusted keys.

import { Code } from "@connectrpc/connect";
import { nameReasons } from "../../platform/base/reasons.ts";

/** The reasons of failure of jobs and of trusted keys. */
export const reasons = nameReasons({
  JOB_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no job with this id.",
    fix: "List the jobs; `runnel jobs list` shows the ids.",
  },
  JOBSPEC_INVALID: {
    code: Code.InvalidArgument,
    about: "The JobSpec or its signature is invalid; the metadata has the signing contract's own `error_code`.",
    fix: "Correct the spec, then sign it again.",
  },
  JOBSPEC_UNTRUSTED: {
    code: Code.PermissionDenied,
    httpStatus: 400,
    about: "The key that signed the JobSpec is unknown, revoked, or not trusted at this time or for this audience.",
    fix: "Sign with a trusted key, or ask the operator to trust this one.",
  },
  JOBSPEC_REPLAYED: {
    code: Code.AlreadyExists,
    httpStatus: 400,
    about: "The service has already accepted this signature.",
    fix: "Sign the spec again with a new nonce to run it once more.",
  },
  REPLAY_UNPROTECTED: {
    code: Code.Unavailable,
    about: "The service cannot check whether the JobSpec was used before.",
    fix: "Retry after a moment; the operator checks the database.",
  },
  KEY_NOT_FOUND: {
    code: Code.NotFound,
    about: "No trusted key has this name, or the key comes from the settings.",
    fix: "List the trusted keys; change a key of the settings there.",
  },
  KEY_EXISTS: {
    code: Code.AlreadyExists,
    about: "A trusted key with this name or this public key already exists.",
    fix: "Update that key.",
  },
  KEY_REVOKED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The key is revoked, which is permanent.",
    fix: "Add another key.",
  },
});
