// The target of a request and its host (RFC 9112, 3.2).

import type { Request } from "./message.ts";

/**
 * Reduces an absolute target to its path and query. The host of such a target replaces the Host header. Example:
 * `http://runner.example/v1/sessions?x` becomes `/v1/sessions?x` with the host `runner.example`.
 */
export function normalizeTarget(request: Request): void {
  const [origin, host] = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "") ?? [];
  if (origin !== undefined) {
    const local = (request.url ?? "").slice(origin.length);
    request.url = local.startsWith("/") ? local : `/${local}`;
    request.headers.host = host;
  }
}

/** Whether a request has several Host headers. Node exposes only the first, and a proxy before it may have read another one. */
export function hasSeveralHosts({ rawHeaders }: Request): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length > 1;
}
