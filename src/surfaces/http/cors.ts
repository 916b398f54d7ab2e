// Which pages of other origins may call (CORS). The answer to an unlisted origin has no CORS headers, so the browser refuses
// it.

import { cors } from "@connectrpc/connect";
import type { Request, Response } from "./message.ts";

/** How long a browser may cache the answer of a preflight. Two hours is the maximum in Chromium. */
const preflightAgeSeconds = 7_200;

const allowedMethods = [...new Set([...cors.allowedMethods, "DELETE", "PUT", "PATCH"])].join(", ");
const allowedHeaders = [
  ...cors.allowedHeaders,
  "A2A-Extensions",
  "A2A-Version",
  "Anthropic-Beta",
  "Anthropic-Dangerous-Direct-Browser-Access",
  "Anthropic-Version",
  "Authorization",
  "Idempotency-Key",
  "If-None-Match",
  "Last-Event-ID",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "OpenAI-Beta",
  "OpenAI-Organization",
  "OpenAI-Project",
  "Runnel-Session",
  "Traceparent",
  "X-Agent-ID",
  "X-Agent-Key-ID",
  "X-Agent-Nonce",
  "X-Agent-Signature",
  "X-Agent-Signature-Version",
  "X-Agent-Timestamp",
  "X-Api-Key",
  "X-Client-ID",
  "X-Nonce",
  "X-Request-ID",
  "X-Runner-Token",
  "X-Signature",
  "X-Stainless-Arch",
  "X-Stainless-Async",
  "X-Stainless-Helper-Method",
  "X-Stainless-Lang",
  "X-Stainless-OS",
  "X-Stainless-Package-Version",
  "X-Stainless-Poll-Helper",
  "X-Stainless-Custom-Poll-Interval",
  "X-Stainless-Retry-Count",
  "X-Stainless-Runtime",
  "X-Stainless-Runtime-Version",
  "X-Stainless-Timeout",
  "X-Timestamp",
].join(", ");
const exposedHeaders = [
  ...cors.exposedHeaders,
  "ETag",
  "Mcp-Session-Id",
  "Request-Id",
  "Retry-After",
  "Stream-Closed",
  "Stream-Cursor",
  "Stream-Next-Offset",
  "Stream-Up-To-Date",
  "WWW-Authenticate",
  "X-Request-Id",
].join(", ");

/** Sets the CORS headers. Answers a preflight itself and then returns true. */
export function answerCors(request: Request, response: Response, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origins.length === 0) {
    return false;
  }
  // Caches must not serve one origin's answer to another, nor the answer of a request without an origin to a page.
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
 * Returns why a request that may come from a foreign page is refused; undefined for others. Used only for a service that asks for no
 * credentials: any page that its user visits could call it. A page whose own host name resolves to loopback could even read the answers.
 */
export function refusalOfPage(request: Request, origins: readonly string[]): string | undefined {
  const host = hostOf(request);
  if (host !== undefined && !isLocalName(host)) {
    return "without credentials this service has no other host name than localhost: call it there or by an address, or set RUNNEL_AUTH_API_KEYS";
  }
  return isForeignOrigin(request, origins)
    ? "pages of other origins cannot call this service: add its origin to RUNNEL_SERVER_CORS_ORIGINS"
    : undefined;
}

/** Whether a request comes from a page of another origin that is not listed. */
export function isForeignOrigin(request: Request, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  return origin !== undefined && !isListed(origin, origins) && origin.replace(/^https?:\/\//, "") !== hostOf(request);
}

function hostOf(request: Request): string | undefined {
  return "authority" in request ? request.authority : request.headers.host;
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes("*") || origins.includes(origin);
}

/** Whether the host is an address or `localhost`: names that others cannot redirect. */
function isLocalName(host: string): boolean {
  return /^(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host);
}
