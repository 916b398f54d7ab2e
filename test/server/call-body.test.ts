// An answer before the end of its request: the connection stays usable for the next call, and a client that waits gets the
// answer.

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, constants } from "node:http2";
import { text } from "node:stream/consumers";
import { createConnectRouter, createContextValues } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { listenOnePort } from "../../src/surfaces/http/one-port.ts";
import { answerRpc, createRpcTable } from "../../src/surfaces/http/rpc.ts";

const readMaxBytes = 1_000;
/** More than Node buffers for a reader that has stopped. */
const tooLargeBytes = 300_000;
const path = "/grpc.health.v1.Health/Check";

test("over HTTP/1.1 the next call on the connection is answered", async () => {
  const origin = await serveHealth();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const call = async (messageBytes: number): Promise<{ body: string; isReused: boolean }> => {
    const headers = { "content-type": "application/grpc-web+proto" };
    const sent = request(origin + path, { agent, method: "POST", headers });
    const answered = once(sent, "response");
    sent.end(Buffer.concat([envelopePrefix(messageBytes), Buffer.alloc(messageBytes)]));
    const [answer] = await answered;
    return { body: await text(answer), isReused: sent.reusedSocket };
  };
  expect(await call(tooLargeBytes)).toEqual({ body: expect.stringMatching(/grpc-status: 8\b/), isReused: false });
  expect(await call(0)).toEqual({ body: expect.stringMatching(/grpc-status: 0\b/), isReused: true });
});

test("over HTTP/2 a client that sends only the length of a too large message gets the refusal", async () => {
  const session = connect(await serveHealth());
  onTestFinished(() => session.destroy());
  const prefix = envelopePrefix(tooLargeBytes);
  for (const headers of [{}, { "content-length": tooLargeBytes + prefix.byteLength }]) {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      ...headers,
    });
    const trailers = once(stream, "trailers");
    stream.write(prefix);
    stream.resume();
    expect((await trailers)[0]).toMatchObject({ "grpc-status": "8" });
    stream.close(constants.NGHTTP2_CANCEL);
  }
});

test("over HTTP/2 a request with a content length is received before it is refused", async () => {
  const session = connect(await serveHealth());
  onTestFinished(() => session.destroy());
  const body = Buffer.concat([envelopePrefix(tooLargeBytes), Buffer.alloc(tooLargeBytes)]);
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    "content-length": body.byteLength,
  });
  const taken = once(stream, "finish");
  const answered = once(stream, "response");
  stream.end(body);
  expect(await Promise.race([taken.then(() => "taken"), answered.then(() => "answered")])).toBe("taken");
  const trailers = once(stream, "trailers");
  stream.resume();
  expect((await trailers)[0]).toMatchObject({ "grpc-status": "8" });
});

function envelopePrefix(messageBytes: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(messageBytes, 1);
  return prefix;
}

/** Returns the origin. */
async function serveHealth(): Promise<string> {
  const { handlers } = createConnectRouter({ readMaxBytes }).service(Health, { check: () => ({}) });
  const rpcs = createRpcTable(handlers);
  const server = await listenOnePort({
    host: "127.0.0.1",
    port: 0,
    handler: (received, response) => {
      const handler = rpcs.get(received.url ?? "");
      if (handler === undefined) {
        throw new Error(`no handler for ${received.url}`);
      }
      // The client of the test sees what cannot be written.
      answerRpc(handler, received, response, { contextValues: createContextValues() }).catch(() => {});
    },
  });
  onTestFinished(() => server.shutdown(0));
  return `http://${server.address.host}:${server.address.port}`;
}
