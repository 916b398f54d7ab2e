// Checks which credentials of callers are set. It never shows them.

import { type CheckContext, type Finding, ok } from "./check.ts";

/** Lists the kinds of credentials that are set. */
export function checkCredentials({ config }: CheckContext): Finding[] {
  const { authHmacSecret, authHmacSecretPrevious, authApiKeys, authAdminToken } = config;
  const clients = new Set(authApiKeys.map(({ client }) => client)).size;
  const present = [
    ...(authHmacSecret === "" ? [] : ["the shared secret of signatures"]),
    ...(authHmacSecretPrevious === "" ? [] : ["the secret before"]),
    ...(clients === 0 ? [] : [`keys of ${clients} client${clients === 1 ? "" : "s"}`]),
    ...(authAdminToken === "" ? [] : ["the admin token"]),
  ];
  const found = present.length === 0 ? "none: any client may call, as in `dev`" : `set: ${present.join(", ")}`;
  return [ok("credentials", found)];
}
