// What can be said of a URL that a caller names before anybody resolves its host; of callbacks in the words of the Agent Runner
// document.

import { isIP } from "node:net";
import { bareHost } from "../config/host-network.ts";
import type { AddressPolicy } from "./address.ts";
import type { DeniedKind } from "./failure.ts";

const urlCharsMax = 2_000;

export interface UrlProblem {
  readonly words: string;
  readonly kind: DeniedKind;
}

/** What a caller names a host for. */
export type Called = "callback" | "runner" | "file";

/** Undefined when nothing is wrong so far. */
export function findUrlProblem(text: string, policy: AddressPolicy, what: Called): UrlProblem | undefined {
  const words = findFormProblem(text);
  if (words !== undefined) {
    return { words, kind: "url" };
  }
  const problem = findHostProblem(bareHost(new URL(text).hostname), policy, what);
  return problem ?? (text.length > urlCharsMax ? { words: `${what} URL too long`, kind: "url" } : undefined);
}

function findFormProblem(text: string): string | undefined {
  // A parser drops or turns these, so that two readers would see two hosts.
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) {
    return "invalid URL: spaces, backslashes and control characters may not be in it";
  }
  const url = URL.parse(text);
  if (url === null) {
    return /^https?:\/*$/i.test(text) ? "host is required" : "invalid URL: write it as https://host/path";
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

/** Services that a stray request can hurt: remote shells, mail, databases, and what runs containers. */
const blockedPorts: ReadonlySet<string> = new Set(
  [0, 22, 25, 465, 587, 2_375, 3_306, 5_432, 6_379, 6_443, 10_250, 11_211].map(String),
);
