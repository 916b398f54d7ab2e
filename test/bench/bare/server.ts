// A program: servers that only answer, on node:http and node:http2 alone. What they cost for the same bytes is the least that
// any service on Node could cost.
//
//   PUT  /answers/<path>    the bytes that `POST /<path>` answers from now on, on both; on HTTP/2 as the one gRPC message
//   GET  /events/<name>     an event stream              POST /events/<name> on HTTP/2: a gRPC stream
//   POST /speak/<name>      `{"deltas": 100, "gapMs": 20}`: sends this many to every stream of this name, then ends them
//
// Announces both addresses on standard error and ends when its standard input ends.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { buffer, json } from "node:stream/consumers";
import { envelope } from "../clients/envelopes.ts";
import { Broadcast } from "./broadcast.ts";

const answers = new Map<string, Buffer>();
const broadcast = new Broadcast();
/** Far more streams than a bench opens on one connection. */
const streamsMax = 1_000;

const http = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
const http2 = createHttp2Server({ settings: { maxConcurrentStreams: streamsMax } });
http2.on("stream", (stream, headers) => {
  stream.on("error", () => {});
  serveGrpc(stream, headers);
});
const [httpPort, http2Port] = await Promise.all([listen(http), listen(http2 as unknown as Server)]);
process.stdin.on("end", () => process.exit(0)).resume();
console.error(`bare on http://127.0.0.1:${httpPort}/#127.0.0.1:${http2Port}`);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = "" } = request;
  if (method === "PUT") {
    answers.set(url.slice("/answers".length), await buffer(request));
    response.end();
  } else if (url.startsWith("/events/")) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(": open\n\n");
    broadcast.addEventStream(url, response);
  } else if (url.startsWith("/speak/")) {
    await broadcast.speak(
      url.replace("/speak/", "/events/"),
      (await json(request)) as { deltas: number; gapMs: number },
    );
    response.end("{}");
  } else {
    // Reads the request to its end, as any server must before it answers.
    await buffer(request);
    const body = answers.get(url);
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": "application/json",
      "content-length": body?.length ?? 0,
    });
    response.end(body);
  }
}

function serveGrpc(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const url = headers[":path"] ?? "";
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  if (url.startsWith("/events/")) {
    stream.resume();
    stream.write(envelope(new Uint8Array()));
    broadcast.addGrpcStream(url, stream);
    return;
  }
  stream.resume().once("end", () => stream.end(envelope(answers.get(url) ?? new Uint8Array())));
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", 1_024, () => resolve((server.address() as AddressInfo).port));
  });
}
