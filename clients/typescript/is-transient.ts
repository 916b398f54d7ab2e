// Which failures of a call pass: the same call may be taken later.

import { Code, ConnectError } from "@connectrpc/connect";

const transient: readonly Code[] = [
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
  Code.Internal,
  Code.Unknown,
  Code.Aborted,
  Code.Canceled,
];

export function isTransient(error: unknown): boolean {
  return transient.includes(ConnectError.from(error).code);
}
