// Answers `GET /console/…` and `GET /docs/…`, before any credentials: the files are no secret, and the page calls the API as any client does.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Prepared } from "./prepared.ts";
import { consolePath, explorerPath, readSite, type Site } from "./site.ts";

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Scripts, styles, calls, images and sounds of this origin alone. Trusted Types without a policy: no script can write HTML. A frame has
 * a `blob:` that the page itself has made: the browser's own viewer of PDFs works in no other place, and in no sandboxed frame.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "media-src blob:",
  "frame-src blob:",
  "font-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** Answers a request for the console. Returns false when the path is not below it. */
export type AnswerPage = (request: Request, response: Response) => boolean;

/**
 * Opens the console under a public path, such as `/runnel` or the empty text.
 * @throws Fault CONFIG_INVALID when this installation has no console.
 */
export async function openConsole(publicPath: string): Promise<AnswerPage> {
  const site = await readSite(publicPath);
  return (request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (path === "/" || path === consolePath.slice(0, -1)) {
      return answerRedirect(request, response, `${publicPath}${consolePath}`);
    }
    if (path === explorerPath.slice(0, -1)) {
      return answerRedirect(request, response, `${publicPath}${explorerPath}`);
    }
    const isExplorer = path.startsWith(explorerPath);
    if (!isExplorer && !path.startsWith(consolePath)) {
      return false;
    }
    setHeaders(response, securityHeaders);
    if (request.method !== "GET" && request.method !== "HEAD") {
      setHeaders(response, { allow: "GET, HEAD" });
      end(response, 405);
      return true;
    }
    const file = isExplorer ? findExplorerFile(site, path) : findFile(site, path.slice(consolePath.length));
    void answerFile(request, response, file).catch(() => response.destroy());
    return true;
  };
}

/** Unknown paths are views of the page, but an unknown asset is missing: a page there would fail as a script. */
function findFile({ files, page }: Site, path: string): Prepared | undefined {
  return files.get(path) ?? (path.startsWith("assets/") ? undefined : page);
}

/** The explorer has one page, and keeps the place in it behind `#`. */
function findExplorerFile({ files }: Site, path: string): Prepared | undefined {
  return files.get(path === explorerPath ? "docs/index.html" : path.slice(1));
}

async function answerFile(request: Request, response: Response, file: Prepared | undefined): Promise<void> {
  if (file === undefined) {
    end(response, 404);
    return;
  }
  const coding = file.choose(String(request.headers["accept-encoding"] ?? ""));
  const tag = file.tagOf(coding);
  response.appendHeader("vary", "Accept-Encoding");
  setHeaders(response, {
    etag: tag,
    "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (isKnown(request.headers["if-none-match"], tag)) {
    end(response, 304);
    return;
  }
  const bytes = await file.encode(coding);
  setHeaders(response, {
    "content-type": file.contentType,
    "content-length": String(bytes.length),
    ...(coding !== "identity" && { "content-encoding": coding }),
  });
  end(response, 200, request.method === "HEAD" ? undefined : bytes);
}

function answerRedirect(request: Request, response: Response, location: string): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return false;
  }
  setHeaders(response, { ...securityHeaders, location });
  end(response, 302);
  return true;
}

/** A proxy that compresses makes an entity tag weak: `W/"…"` names the same bytes. */
function isKnown(known: string | undefined, tag: string): boolean {
  return (known ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, value);
  }
}

function end(response: Response, status: number, body?: Buffer): void {
  response.statusCode = status;
  if (body === undefined) {
    response.end();
  } else {
    response.end(body);
  }
}
