// Checks a URL of a client before its host is resolved. Messages about callbacks use the wording of the Agent Runner document.

import { isIP } from "node:net";
import { bareHost } from "../config/host-network.ts";
import type { AddressPolicy } from "./address.ts";
import type { DeniedKind } from "./failure.ts";

const urlCharsMax = 2_000;

/** A problem of a URL. */
export interface UrlProblem {
  readonly words: string;
  readonly kind: DeniedKind;
}

/** The purpose of the call. */
export type Called = "callback" | "runner" | "file" | "mcp server" | "authorization server";

/** Returns the first problem of the URL, or undefined. */
export function findUrlProblem(text: string, policy: AddressPolicy, what: Called): UrlProblem | undefined {
  const words = findFormProblem(text);
  if (words !== undefined) {
    return { words, kind: "url" };
  }
  const problem = findHostProblem(bareHost(new URL(text).hostname), policy, what);
  return problem ?? (text.length > urlCharsMax ? { words: `${what} URL too long`, kind: "url" } : undefined);
}

function findFormProblem(text: string): string | undefined {
  // A parser drops or converts these characters, so two parsers could see two different hosts.
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) {
    return "invalid URL: spaces, backslashes and control characters may not be in it";
  }
  // The parser would also find a host behind one or three slashes, or none. RFC 3986 has one behind exactly two.
  if (/^https?:(?!\/\/[^/?#])/i.test(text)) {
    return "host is required";
  }
  const url = URL.parse(text);
  if (url === null) {
    return "invalid URL: write it as https://host/path";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "scheme must be http or https";
  }
  if (url.username !== "" || url.password !== "" || text.includes("#")) {
    return "invalid URL: neither user, password nor fragment may be in it";
  }
  return blockedPorts.has(url.port) ? `invalid URL: port ${url.port} is not allowed` : undefined;
}

function findHostProblem(host: string, policy: AddressPolicy, what: Called): UrlProblem | undefined {
  if (policy.isForbiddenName(host)) {
    return { words: `localhost ${what}s are not allowed`, kind: "name" };
  }
  return isIP(host) !== 0 && !policy.isAllowed(host, host)
    ? { words: `private IP ${what}s are not allowed`, kind: "address" }
    : undefined;
}

/** Ports of services that a stray request can harm: remote shells, mail, databases, container runtimes. */
const blockedPorts: ReadonlySet<string> = new Set(
  [0, 22, 25, 465, 587, 2_375, 3_306, 5_432, 6_379, 6_443, 10_250, 11_211].map(String),
);
