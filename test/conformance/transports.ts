// The transports of connect's clients. Between them they cover each protocol, HTTP/1.1 and HTTP/2, Protobuf and JSON, Node's
// own HTTP and fetch.

import type { Transport } from "@connectrpc/connect";
import * as node from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { onTestFinished } from "vitest";

export function connectJsonTransport(baseUrl: string): Transport {
  return node.createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false });
}

/** Its connection is closed with the test. */
export function connectHttp2Transport(baseUrl: string): Transport {
  const sessionManager = new node.Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  return node.createConnectTransport({ baseUrl, httpVersion: "2", sessionManager });
}

export function grpcWebTransport(baseUrl: string): Transport {
  return node.createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
}

/** Calls without side effects are GETs. */
export function connectFetchTransport(baseUrl: string): Transport {
  return web.createConnectTransport({ baseUrl, useHttpGet: true });
}

export function grpcWebFetchTransport(baseUrl: string): Transport {
  return web.createGrpcWebTransport({ baseUrl, useBinaryFormat: false });
}
