// The versions of A2A that the service speaks.

import { A2aError } from "./errors.ts";

/** The version on the wire. */
export const version = "1.0";

/** The header, and the parameter of a query, that has the client's version. */
export const versionHeader = "a2a-version";

/** Checks the version of a request; a patch of it has the same wire. Clients of 0.3 send none. Throws A2aError. */
export function assertVersion(given: string): void {
  if (!/^1\.0(?:\.\d+)?$/.test(given)) {
    const named = given === "" ? "0.3, which a request without the header A2A-Version has," : JSON.stringify(given);
    throw new A2aError("VERSION_NOT_SUPPORTED", `version ${named} is not supported: send A2A-Version: ${version}`);
  }
}
