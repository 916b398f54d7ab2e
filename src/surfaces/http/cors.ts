// Which pages of other origins may call (CORS). Nothing is said to an origin that is not on the list, and the browser
// refuses it.

import { cors } from "@connectrpc/connect";
import type { Request, Response } from "./rpc.ts";

/** How long a browser may keep the answer of a preflight; two hours is the most that Chromium keeps. */
const preflightAgeSeconds = 7_200;

const allowedMethods = [...new Set([...cors.allowedMethods, "DELETE", "PUT", "PATCH"])].join(", ");
const allowedHeaders = [
  ...cors.allowedHeaders,
  "Authorization",
  "Idempotency-Key",
  "Last-Event-ID",
  "Traceparent",
  "X-Agent-ID",
  "X-Agent-Key-ID",
  "X-Agent-Nonce",
  "X-Agent-Signature",
  "X-Agent-Signature-Version",
  "X-Agent-Timestamp",
  "X-Client-ID",
  "X-Nonce",
  "X-Request-ID",
  "X-Runner-Token",
  "X-Signature",
  "X-Timestamp",
].join(", ");
const exposedHeaders = [...cors.exposedHeaders, "Retry-After", "X-Request-Id"].join(", ");

/** Sets the headers of an answer to a page; answers a preflight and returns true. */
export function answerCors(request: Request, response: Response, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origins.length === 0) {
    return false;
  }
  // Caches must not give one origin's answer to another, nor the answer to no page to a page.
  response.setHeader("vary", "Origin");
  if (origin === undefined || !isListed(origin, origins)) {
    return false;
  }
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", exposedHeaders);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) {
    return false;
  }
  response.setHeader("access-control-allow-methods", allowedMethods);
  response.setHeader("access-control-allow-headers", allowedHeaders);
  response.setHeader("access-control-max-age", String(preflightAgeSeconds));
  response.statusCode = 204;
  response.end();
  return true;
}

/**
 * Whether a request comes from a page that has no business here. Only for a service that asks for no credentials: any page
 * that its user visits could call it, and one that makes its own name point to loopback could read the answers.
 */
export function isForeignPage(request: Request, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  const host = "authority" in request ? request.authority : request.headers.host;
  if (host !== undefined && !isLocalName(host)) {
    return true;
  }
  return origin !== undefined && !isListed(origin, origins) && origin.replace(/^https?:\/\//, "") !== host;
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes("*") || origins.includes(origin);
}

/** An address or `localhost`: names that no one else can point somewhere. */
function isLocalName(host: string): boolean {
  return /^(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host);
}
