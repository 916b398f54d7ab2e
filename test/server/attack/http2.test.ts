// Cheap attacks over HTTP/2: open and reset streams, open more than allowed, and hold all open streams.

import { once } from "node:events";
import http2 from "node:http2";
import { expect, onTestFinished } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { startRun } from "../../fault/cluster.ts";
import { until } from "../../harness/wait.ts";
import { cancel, hello, request } from "../h2-frames.ts";
import { openAttackedService, test } from "./attacked-service.ts";
import { envelope, grpcHead } from "./grpc-call.ts";
import { connectPeers } from "./raw-peers.ts";

const floodingPeers = 10;
const resets = 3_000;
const attackTimeoutMs = 120_000;

test("peers that open and reset 3,000 streams each lose their connections", { timeout: attackTimeoutMs }, async () => {
  const attacked = await openAttackedService();
  const flood = Array.from({ length: resets }, (_, index) => {
    const streamId = 2 * index + 1;
    return [request(streamId, "GET"), cancel(streamId)];
  }).flat();
  const peers = connectPeers(attacked, floodingPeers, Buffer.concat([hello, ...flood]));
  await until("all of them to be closed", () => peers.countOpen() === 0);
  await attacked.expectUnharmed();
});

// Valid calls of a known client, each cancelled right after it was sent: the service ends everything that it began for them.
test("a client that begins and cancels 3,000 calls leaves nothing behind", {
  timeout: attackTimeoutMs,
}, async ({ attacked }) => {
  const { runId } = await startRun(attacked.member.client, "words=1000 pace=100");
  const call = grpcHead(RunService.method.tailRun);
  const body = envelope(RunService.method.tailRun, { runId });
  for (let begun = 0; begun < resets; ) {
    const session = open(attacked.member.url);
    await once(session, "connect");
    while (begun < resets && !session.closed && !session.destroyed) {
      const stream = session.request(call);
      const closed = new Promise<void>((resolve) => stream.on("error", () => {}).once("close", () => resolve()));
      stream.end(body);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      begun += 1;
      await closed;
    }
    session.destroy();
  }
  await attacked.member.client.call(RunService.method.cancelRun, { runId });
  await attacked.expectUnharmed();
});

const askedStreams = 1_000;
const allowedStreams = 100;

test("a connection gets 100 of 1,000 streams, and the others are refused", { timeout: attackTimeoutMs }, async () => {
  const attacked = await openAttackedService();
  const { runId } = await startRun(attacked.member.client, "words=1000 pace=100");
  const call = grpcHead(RunService.method.tailRun);
  const body = envelope(RunService.method.tailRun, { runId });
  // A client that ignores the server's settings.
  const session = open(attacked.member.url);
  let answered = 0;
  let refused = 0;
  for (let index = 0; index < askedStreams; index++) {
    const stream = session.request(call);
    stream.on("error", () => {}).resume();
    stream.once("response", () => {
      answered += 1;
    });
    stream.once("close", () => {
      refused += stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? 1 : 0;
    });
    stream.end(body);
  }
  await until("the allowed streams to be answered", () => answered >= allowedStreams);
  expect(answered).toBe(allowedStreams);
  session.destroy();
  await attacked.member.client.call(RunService.method.cancelRun, { runId });
  expect(refused).toBeLessThanOrEqual(askedStreams - allowedStreams);
  await attacked.expectUnharmed();
});

function open(url: string): http2.ClientHttp2Session {
  const session = http2.connect(url);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}
