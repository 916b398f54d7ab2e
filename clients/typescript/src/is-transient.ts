// Which failures of a call pass: the same call may be taken later. docs/resuming.md lists the codes that do not.

import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";

const permanent: readonly Code[] = [
  Code.InvalidArgument,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.AlreadyExists,
  Code.OutOfRange,
  Code.FailedPrecondition,
  Code.Unimplemented,
  Code.DataLoss,
];

/** Returns whether the same call may succeed later. Each transport has codes of its own for a lost connection. */
export function isTransient(error: unknown): boolean {
  const failure = ConnectError.from(error);
  if (failure.code === Code.ResourceExhausted) {
    // A quota or a size stays exhausted, unless the service says when to call again. A proxy gives no reason.
    const [info] = failure.findDetails(ErrorInfoSchema);
    return info === undefined || info.reason === "RATE_LIMITED" || failure.findDetails(RetryInfoSchema).length > 0;
  }
  return !permanent.includes(failure.code);
}
