// The clients of the benches, against the bare server in a process of its own: they extract exactly the bytes that were sent,
// however these were split on the way, and a failure is an error instead of a figure.

import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { openReaders, sampledEvery } from "./benches/readers.ts";
import { openBareSource } from "./benches/stream-sources.ts";
import { envelope, envelopeReader } from "./clients/envelopes.ts";
import { readEventStream } from "./clients/event-stream.ts";
import { H1Client } from "./clients/h1-client.ts";
import { H2Client } from "./clients/h2-client.ts";
import { HttpClient } from "./clients/http-client.ts";
import { countResults } from "./clients/tail-response.ts";
import { measure } from "./harness/meter.ts";
import { type BareServer, startBareServer } from "./harness/stage.ts";

let server: BareServer;

beforeAll(async () => {
  server = await startBareServer();
});

afterAll(() => server.end("SIGTERM"));

test("messages are cut out of their envelopes in any split of the bytes", () => {
  const messages = ["", "a", "b".repeat(300)].map((text) => Buffer.from(text));
  const bytes = Buffer.concat(messages.map((message) => envelope(message)));
  for (const pieceLength of [1, 2, 7, bytes.length]) {
    const seen: string[] = [];
    const read = envelopeReader((message) => seen.push(message.toString()));
    for (let at = 0; at < bytes.length; at += pieceLength) {
      read(bytes.subarray(at, at + pieceLength));
    }
    expect(seen).toEqual(messages.map(String));
  }
});

test("results are counted as a decoder would, in responses without results, short and long ones", () => {
  for (const count of [0, 1, 500]) {
    const results = Array.from({ length: count }, (_, index) => {
      const chunk = { role: "assistant", content: "x".repeat(index) };
      return { runId: "r", sequence: BigInt(index), payload: { case: "messageDelta" as const, value: { chunk } } };
    });
    const bytes = toBinary(TailRunResponseSchema, create(TailRunResponseSchema, { results }));
    expect(countResults(bytes)).toBe(count);
  }
});

test("the bare server returns the given bytes, over HTTP/1.1 and as a gRPC message", async () => {
  using http = new HttpClient(server.url);
  using h1 = new H1Client(server.url);
  using h2 = new H2Client(server.target);
  const answer = Buffer.from([0, 1, 2, 255]);
  await http.put("/answers/a.Service/Method", answer);
  const calls = await Promise.all(Array.from({ length: 20 }, () => h1.post({ path: "/a.Service/Method", body: "{}" })));
  expect(calls.map(({ status, body }) => [status, body.equals(answer)])).toEqual(calls.map(() => [200, true]));
  const messages = await Promise.all(Array.from({ length: 20 }, () => h2.call("/a.Service/Method", new Uint8Array())));
  expect(messages.every((message) => message.equals(answer))).toBe(true);
});

test("an unknown path of the bare server gives 404", async () => {
  using h1 = new H1Client(server.url);
  expect((await h1.post({ path: "/unknown", body: "{}" })).status).toBe(404);
});

test.each([
  { name: "gRPC, shared connections", protocol: "grpc", connections: 3 },
  { name: "gRPC, connections of their own", protocol: "grpc", connections: 120 },
  { name: "SSE", protocol: "sse", connections: 120 },
] as const)("$name: every one of many readers receives every delta once, in order", async (shape) => {
  const readers = 2 * sampledEvery + 20;
  const speech = { shape: { ...shape, readers }, deltas: 30, gapMs: 1 };
  const { place, speak } = openBareSource(server, speech);
  using opened = await openReaders(speech.shape, place);
  await Promise.all([speak(), opened.ended]);
  expect(opened.readers.map(({ deliveries }) => deliveries)).toEqual(Array(readers).fill(30));
  const sampled = opened.readers.filter((_, index) => index % sampledEvery === 0);
  expect(sampled.map(({ stamps, ageMs }) => [stamps, ageMs.length])).toEqual(Array(3).fill([30, 30]));
  expect(sampled.flatMap(({ ageMs }) => ageMs).filter((age) => !(age >= 0 && age < 60_000))).toEqual([]);
});

test("a stream that is refused or cut off is an error", async () => {
  const listen = (path: string) => readEventStream({ url: server.url, path, onBlock: () => {} });
  await expect(listen("/unknown")).rejects.toThrow("404");
  const doomed = await startBareServer();
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  const cutOff = readEventStream({ url: doomed.url, path: "/events/doomed", onBlock: () => resolve() });
  cutOff.catch(() => {});
  await opened;
  await doomed.end("SIGKILL");
  await expect(cutOff).rejects.toThrow();
});

test("the CPU time of another process is finer than the kernel's clock ticks; without /proc it is unknown", async () => {
  using h1 = new H1Client(server.url);
  const { cost } = await measure({ servicePid: server.pid }, async () => {
    await h1.post({ path: "/unknown", body: "{}" });
  });
  expect(cost.service > 0 && cost.service < 1).toBe(process.platform === "linux");
});
