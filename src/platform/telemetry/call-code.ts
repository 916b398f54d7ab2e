// gRPC's names of its status codes, for logs and labels.

import { Code } from "@connectrpc/connect";

/** Returns a name such as `NOT_FOUND`; `OK` for undefined. */
export function callCodeName(code: Code | undefined): string {
  if (code === undefined) {
    return "OK";
  }
  // Connect spells it with one l.
  return code === Code.Canceled ? "CANCELLED" : Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
