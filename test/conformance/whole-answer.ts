// One request exactly as a test wants it, over HTTP/1.1 or HTTP/2, and the complete raw answer: nothing is parsed, decompressed
// or left out.

import { once } from "node:events";
import { request as requestH1 } from "node:http";
import http2 from "node:http2";
import { credentialsOf } from "../harness/credentials.ts";

export interface WholeRequest {
  readonly httpVersion: "1.1" | "2";
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** Calls as the tests' own client unless its headers say otherwise. Resolves at the end of the answer. */
export async function callWhole(url: string, request: WholeRequest): Promise<WholeAnswer> {
  const headers = { ...credentialsOf(), ...request.headers };
  const answer = await (request.httpVersion === "2" ? callH2 : callH1)(url, { ...request, headers });
  return { ...answer, headers: comparable(answer.headers) };
}

async function callH1(url: string, { method = "POST", path, headers, body }: WholeRequest): Promise<WholeAnswer> {
  const request = requestH1(`${url}${path}`, { method, headers, agent: false });
  const arrived = once(request, "response");
  request.end(body);
  const [response] = await arrived;
  const chunks: Buffer[] = await Array.fromAsync(response);
  const { statusCode: status, headers: received, trailers } = response;
  return { status, headers: received, trailers, body: Buffer.concat(chunks) };
}

async function callH2(url: string, { method = "POST", path, headers, body }: WholeRequest): Promise<WholeAnswer> {
  const session = http2.connect(url);
  session.on("error", () => {});
  try {
    const head = { ":method": method, ":path": path, te: "trailers", ...headers };
    const stream = session.request(head, { endStream: false });
    const chunks: Buffer[] = [];
    let received: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    // Bytes that are still to be sent when the answer has ended may fail.
    stream.on("error", () => {});
    stream.on("response", (each) => {
      received = each;
    });
    stream.on("trailers", (each) => {
      trailers = each;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const over = new Promise<void>((resolve) => {
      stream.on("end", resolve).on("close", resolve);
    });
    stream.end(body);
    await over;
    return { status: received[":status"] ?? 0, headers: received, trailers, body: Buffer.concat(chunks) };
  } finally {
    session.destroy();
  }
}

/** Removes the headers that differ between any two answers. */
function comparable(headers: WholeAnswer["headers"]): WholeAnswer["headers"] {
  const { date: _date, "x-request-id": _requestId, ...rest } = headers;
  return rest;
}
