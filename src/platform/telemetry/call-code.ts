// gRPC codes by the names that gRPC gives them, for logs and labels.

import { Code } from "@connectrpc/connect";

/** `OK` for a call that went well. */
export function callCodeName(code: Code | undefined): string {
  if (code === undefined) {
    return "OK";
  }
  // Connect spells it with one l.
  return code === Code.Canceled ? "CANCELLED" : Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
