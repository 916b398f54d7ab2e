// Where a session is called back: what can be refused when the session is created, in the words of the Agent Runner
// document. What a name resolves to is looked at when it is dialled.

import type { Callback } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../base/fault.ts";
import { isPublicAddress } from "../trust/public-address.ts";

const urlCharsMax = 2_000;

/** `allowsPrivate`: the service may call hosts of networks that are not public. */
export function checkCallback(callback: Callback | undefined, allowsPrivate: boolean): void {
  const baseUrl = callback?.baseUrl ?? "";
  const problem = baseUrl === "" ? undefined : findProblem(baseUrl, allowsPrivate);
  if (problem !== undefined) {
    throw new Fault("INVALID_ARGUMENT", `invalid callback.base_url: ${problem}`, {
      violations: [{ field: "callback.base_url", description: problem }],
    });
  }
}

function findProblem(baseUrl: string, allowsPrivate: boolean): string | undefined {
  const url = URL.parse(baseUrl);
  if (url === null) {
    return /^https?:\/*$/i.test(baseUrl) ? "host is required" : "invalid URL: write it as https://host/path";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "scheme must be http or https";
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    return "invalid URL: neither user, password nor fragment may be in it";
  }
  const privacy = allowsPrivate ? undefined : findPrivacy(url.hostname.replace(/\.$/, ""));
  return privacy ?? (baseUrl.length > urlCharsMax ? "callback URL too long" : undefined);
}

function findPrivacy(host: string): string | undefined {
  if (host === "localhost" || host.endsWith(".localhost")) {
    return "localhost callbacks are not allowed";
  }
  return isPublicAddress(host.replace(/^\[|\]$/g, "")) === false ? "private IP callbacks are not allowed" : undefined;
}
