// What a handler learns about a caller that leaves before the answer.

import { once } from "node:events";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { Code, ConnectError, createConnectRouter, createContextValues } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { listenOnePort } from "../../src/surfaces/http/one-port.ts";
import { answerRpc, createRpcTable } from "../../src/surfaces/http/rpc.ts";

const path = "/runnel.v1.SystemService/GetVersion";

test("over HTTP/1.1 a caller that hangs up cancels its call", async () => {
  const { origin, called } = await serveSilence();
  const sent = request(origin + path, { method: "POST", headers: { "content-type": "application/json" } });
  sent.on("error", () => {});
  sent.end("{}");
  const signal = await called;
  sent.destroy();
  expect(await codeOf(signal)).toBe(Code.Canceled);
});

test("over HTTP/2 the code of the reset gives the reason", async () => {
  const codes = [
    [constants.NGHTTP2_CANCEL, Code.Canceled],
    [constants.NGHTTP2_REFUSED_STREAM, Code.Unavailable],
    [constants.NGHTTP2_ENHANCE_YOUR_CALM, Code.ResourceExhausted],
    [constants.NGHTTP2_INTERNAL_ERROR, Code.Internal],
    // This code says nothing about the call.
    [constants.NGHTTP2_STREAM_CLOSED, Code.Canceled],
  ] as const;
  for (const [reset, code] of codes) {
    const { origin, called } = await serveSilence();
    const session = connect(origin);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    stream.on("error", () => {});
    stream.end(Buffer.alloc(5));
    const signal = await called;
    stream.close(reset);
    expect(await codeOf(signal)).toBe(code);
  }
});

async function codeOf(signal: AbortSignal): Promise<Code> {
  if (!signal.aborted) {
    await once(signal, "abort");
  }
  return ConnectError.from(signal.reason).code;
}

/** Starts a service that never answers. Returns the signal of the call that it gets. */
async function serveSilence(): Promise<{ origin: string; called: Promise<AbortSignal> }> {
  const called = Promise.withResolvers<AbortSignal>();
  const { handlers } = createConnectRouter().service(SystemService, {
    getVersion: (_, { signal }) => {
      called.resolve(signal);
      return new Promise(() => {});
    },
  });
  const [handler] = createRpcTable(handlers.filter(({ requestPath }) => requestPath === path)).values();
  if (handler === undefined) {
    throw new Error(`no handler for ${path}`);
  }
  const server = await listenOnePort({
    host: "127.0.0.1",
    port: 0,
    handler: (received, response) => {
      // The client has left, so the error has no reader.
      answerRpc(handler, received, response, { contextValues: createContextValues() }).catch(() => {});
    },
  });
  onTestFinished(() => server.shutdown(0));
  return { origin: `http://${server.address.host}:${server.address.port}`, called: called.promise };
}
