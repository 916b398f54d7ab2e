// Streams that are served as feeds, beside the same streams of a service that serves them by their handlers. Both work on one
// database, so they have the same runs; no caller may see which of them answered.

import { once } from "node:events";
import http2 from "node:http2";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import {
  create,
  type DescMethodServerStreaming,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { compressionGzip, createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { answer, hangAfter, type Script, type startFakeProvider } from "../fakes/provider.ts";
import { test as base, openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { connectSurface } from "./connect-surface.ts";
import { frame } from "./grpc-frames.ts";
import { modelFlags, readSession, startConversation } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";
import { callWhole, type WholeAnswer, type WholeRequest } from "./whole-answer.ts";

const { tailRun } = RunService.method;
const { streamSession } = SessionService.method;
const grpc = findSurface("gRPC");

interface Both {
  readonly fed: TestService;
  readonly plain: TestService;
  readonly api: Surface;
  readonly provider: Awaited<ReturnType<typeof startFakeProvider>>;
}

const test = base.extend("stage", async (): Promise<Both> => {
  const provider = await openProvider();
  const plain = await startService(modelFlags(provider), { plainStreams: true });
  const fed = await startService({ ...modelFlags(provider), databaseUrl: plain.databaseUrl });
  return { fed, plain, api: grpc.connect(fed), provider };
});

/** Every kind of result, and more bytes than one message may have. */
const sayEverything: readonly Script[] = [
  (wire) => {
    wire.reasoning("because");
    wire.text("I look <é\u2028>.");
    wire.toolCalls({ index: 0, id: "call_1", name: "list_dir", arguments: "{}" });
    wire.toolCalls({ index: 1, id: "call_2", name: "zap", arguments: "{}" });
    wire.finish("tool_calls");
    wire.usage({ prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 });
    wire.done();
  },
  (wire) => {
    for (const letter of "abcdef") {
      wire.reasoning(letter.repeat(50_000));
      wire.text(letter.repeat(50_000));
    }
    wire.done("stop");
  },
];

async function finishRun(
  { api, provider }: Both,
  scripts: readonly Script[],
): Promise<{ sessionId: string; runId: string }> {
  provider.respond(...scripts);
  const ids = await startConversation(api, { tools: { builtin: ["list_dir"] } });
  await readSession(api, ids.sessionId);
  return ids;
}

interface Shape {
  readonly protocol: string;
  readonly codec: "proto" | "json";
  readonly contentType: string;
  /** The header that names the compression of messages. */
  readonly encodingHeader: string;
  readonly timeout: {
    readonly header: string;
    readonly wrong: string;
    readonly tooLong: string;
    readonly over: string;
  };
}

const grpcTimeout = { header: "grpc-timeout", wrong: "soon", tooLong: "3H", over: "0m" };
const connectTimeout = { header: "connect-timeout-ms", wrong: "soon", tooLong: "7200001", over: "0" };
const shapes: readonly Shape[] = (["proto", "json"] as const).flatMap((codec) => [
  {
    protocol: "gRPC",
    codec,
    contentType: `application/grpc+${codec}`,
    encodingHeader: "grpc-encoding",
    timeout: grpcTimeout,
  },
  {
    protocol: "gRPC-Web",
    codec,
    contentType: `application/grpc-web+${codec}`,
    encodingHeader: "grpc-encoding",
    timeout: grpcTimeout,
  },
  {
    protocol: "Connect",
    codec,
    contentType: `application/connect+${codec}`,
    encodingHeader: "connect-content-encoding",
    timeout: connectTimeout,
  },
]);

function pathOf(method: DescMethodServerStreaming): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function encode<M extends DescMethodServerStreaming>(
  method: M,
  codec: Shape["codec"],
  request: MessageInitShape<M["input"]>,
): Buffer {
  const message = create(method.input, request);
  return Buffer.from(codec === "proto" ? toBinary(method.input, message) : toJsonString(method.input, message));
}

interface Envelope {
  readonly flag: number;
  readonly data: Buffer;
}

function envelopesOf(body: Buffer): Envelope[] {
  const envelopes: Envelope[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    envelopes.push({ flag: body[at] ?? 0, data: body.subarray(at + 5, end) });
    at = end;
  }
  return envelopes;
}

/**
 * Returns the content of a stream's messages, however it is split into messages: lists of results are joined to one list.
 * Events of a session are never joined.
 */
function toldBy(method: DescMethodServerStreaming, codec: Shape["codec"], answer: WholeAnswer): unknown {
  const { body, ...rest } = answer;
  const isStream = /^application\/(?:grpc|connect)/.test(String(rest.headers["content-type"]));
  if (!isStream) {
    return { ...rest, body: body.toString() };
  }
  const envelopes = envelopesOf(body);
  const end = envelopes.filter(({ flag }) => flag !== 0).map(({ flag, data }) => [flag, data.toString()]);
  const messages = envelopes.filter(({ flag }) => flag === 0).map(({ data }) => data);
  if (method.name !== tailRun.name) {
    return { ...rest, end, messages: messages.map((data) => data.toString("latin1")) };
  }
  const results =
    codec === "proto"
      ? Buffer.concat(messages).toString("latin1")
      : messages.flatMap((data) => JSON.parse(data.toString()).results ?? []);
  return { ...rest, end, opensEmpty: messages[0]?.toString(), results };
}

async function askBoth(
  { fed, plain }: Both,
  { method, codec, request }: { method: DescMethodServerStreaming; codec: Shape["codec"]; request: WholeRequest },
): Promise<{ fed: unknown; plain: unknown }> {
  const [one, other] = await Promise.all([callWhole(fed.url, request), callWhole(plain.url, request)]);
  return { fed: toldBy(method, codec, one), plain: toldBy(method, codec, other) };
}

test("with and without feeds a run and a session have the same bytes, from any position", async ({ stage: both }) => {
  const { sessionId, runId } = await finishRun(both, sayEverything);
  const last = (await Array.fromAsync(both.api.followRun(runId))).length;
  expect(last).toBeGreaterThan(10);
  for (const { protocol, codec, contentType } of shapes) {
    // Each protocol runs over both HTTP versions, one for each codec.
    const httpVersion = codec === "proto" ? "2" : "1.1";
    const calls = [0, 1, last - 1, last, last + 1].flatMap((after) => [
      { method: tailRun, message: encode(tailRun, codec, { runId, after: BigInt(after) }) },
      {
        method: streamSession,
        message: encode(streamSession, codec, { sessionId, after: after === 0 ? "" : `${runId}.${after}` }),
      },
    ]);
    for (const { method, message } of calls) {
      const headers = { "content-type": contentType };
      const request: WholeRequest = { httpVersion, path: pathOf(method), headers, body: frame(message) };
      const told = await askBoth(both, { method, codec, request });
      expect(told.fed, `${protocol} in ${codec}: ${message}`).toEqual(told.plain);
      expect(told.fed).toMatchObject({ status: 200 });
    }
  }
});

test.for(shapes)(
  "all unusual requests over $protocol in $codec get the same answer with and without feeds",
  async (shape, { stage: both }) => {
    const { sessionId, runId } = await finishRun(both, [answer("well")]);
    const { ticket } = await new GrpcClient(both.fed.target).call(AuthService.method.createStreamTicket, {
      target: { target: { case: "sessionId", value: sessionId } },
    });
    const { codec, contentType } = shape;
    for (const [what, different] of Object.entries(unusualRequests(shape, { runId, ticket }))) {
      const request: WholeRequest = {
        httpVersion: "2",
        path: pathOf(tailRun),
        headers: { "content-type": contentType },
        body: frame(encode(tailRun, codec, { runId })),
        ...different,
      };
      const told = await askBoth(both, { method: tailRun, codec, request });
      expect.soft(told.fed, what).toEqual(told.plain);
      expect.soft((told.fed as WholeAnswer).status, what).toBeGreaterThan(0);
    }
  },
);

test("readers of an active run get the same results, at any time and from any position", async ({ stage: both }) => {
  const { fed, plain, api, provider } = both;
  const steps = ["one", "two", "three"].map((word) => ({ word, ...Promise.withResolvers<void>() }));
  provider.respond(async (wire) => {
    for (const { word, promise } of steps) {
      wire.text(word);
      await promise;
    }
    wire.done("stop");
  });
  const { sessionId, runId } = await startConversation(api);
  const readers: Promise<{ fed: unknown; plain: unknown }>[] = [];
  for (const { resolve } of steps) {
    for (const { codec, contentType } of shapes) {
      const httpVersion = codec === "proto" ? "2" : "1.1";
      for (const after of [0, 2]) {
        const asked = [
          { method: tailRun, message: encode(tailRun, codec, { runId, after: BigInt(after) }) },
          { method: streamSession, message: encode(streamSession, codec, { sessionId, after: `${runId}.${after}` }) },
        ];
        for (const { method, message } of asked) {
          const headers = { "content-type": contentType };
          const request: WholeRequest = { httpVersion, path: pathOf(method), headers, body: frame(message) };
          readers.push(askBoth(both, { method, codec, request }));
        }
      }
    }
    for (const service of [fed, plain]) {
      await until("the readers to be there", () => service.app.countReaders() === readers.length);
    }
    resolve();
  }
  for (const told of await Promise.all(readers)) {
    expect(told.fed).toEqual(told.plain);
  }
  expect(readers).toHaveLength(steps.length * shapes.length * 4);
});

test("readers that accept or send compressed messages get the same as all others", async ({ stage: both }) => {
  const { sessionId, runId } = await finishRun(both, sayEverything);
  const results = await Array.fromAsync(both.api.followRun(runId));
  const events = await readSession(both.api, sessionId);
  const taking = { httpVersion: "1.1" as const, acceptCompression: [compressionGzip] };
  const sending = { ...taking, useBinaryFormat: false, sendCompression: compressionGzip, compressMinBytes: 1 };
  for (const { url: baseUrl } of [both.fed, both.plain]) {
    for (const options of [taking, sending]) {
      const api = connectSurface(createConnectTransport({ baseUrl, ...options }), credentialsOf());
      expect(await Array.fromAsync(api.followRun(runId))).toEqual(results);
      expect(await readSession(api, sessionId)).toEqual(events);
    }
  }
});

test("an unreadable request is answered at once, even when it never ends", async ({ stage: { fed, plain } }) => {
  const hopeless: Record<string, Buffer> = {
    "claims 4 GiB": frame(Buffer.alloc(100), { claimedBytes: 0xffff_ffff }),
    "claims a byte too many": frame(Buffer.alloc(100), { claimedBytes: 4_194_305 }),
    "has more than one message": Buffer.concat([frame(Buffer.alloc(0)), frame(Buffer.alloc(0))]),
    "is not a message": frame(Buffer.from([0xff, 0xff, 0xff])),
  };
  for (const { url } of [plain, fed]) {
    const session = http2.connect(url);
    onTestFinished(() => session.destroy());
    const unanswered = new Set<string>();
    for (const [what, body] of Object.entries(hopeless)) {
      for (const { protocol, codec, contentType } of shapes) {
        const stream = session.request(streamHead(contentType), { endStream: false });
        stream.on("error", () => {});
        stream.write(body);
        const name = `one that ${what}, over ${protocol} in ${codec}`;
        unanswered.add(name);
        stream.once("response", () => unanswered.delete(name));
      }
    }
    // The service's own timeout for an unfinished request is 30 s.
    await until("the answers", () => unanswered.size === 0, 10_000).catch((error: unknown) => {
      throw new Error(`no answer to ${[...unanswered].join("; ")}`, { cause: error });
    });
  }
});

describe("a reader that leaves", () => {
  const leaves: Record<string, (stream: http2.ClientHttp2Stream, request: Buffer) => Promise<void>> = {
    "before it has asked": async (stream) => {
      stream.write(Buffer.alloc(3));
    },
    "in the middle of its request": async (stream, request) => {
      stream.write(request.subarray(0, request.length - 1));
    },
    "as soon as it has asked": async (stream, request) => {
      stream.end(request);
    },
    "when it is let in": async (stream, request) => {
      stream.end(request);
      await once(stream, "response");
    },
    "after a message": async (stream, request) => {
      stream.end(request);
      await once(stream, "data");
    },
    "without having read": async (stream, request) => {
      stream.pause();
      stream.end(request);
      await once(stream, "response");
    },
  };
  /** The number of visits of each reader: a leak of a single visit is easily missed. */
  const visits = 5;

  test.each(Object.entries(leaves))("%s leaves nothing behind", async (_when, leave) => {
    const { clock, sleepers } = createCountingClock(heartbeatMs);
    const provider = await openProvider();
    provider.respond(hangAfter("x".repeat(1_000_000)));
    const service = await startService(modelFlags(provider), { clock });
    const api = grpc.connect(service);
    const { sessionId, runId } = await startConversation(api);
    await until("the text", async () => (await api.listResults({ runId })).results.length > 1);
    for (let visit = 0; visit < visits; visit += 1) {
      for (const { codec, contentType } of shapes) {
        for (const isSession of [true, false]) {
          const message = isSession ? encode(streamSession, codec, { sessionId }) : encode(tailRun, codec, { runId });
          const session = http2.connect(service.url);
          session.on("error", () => {});
          const stream = session.request(streamHead(contentType, isSession ? streamSession : tailRun), {
            endStream: false,
          });
          stream.on("error", () => {});
          await leave(stream, frame(message));
          // The two ways in which a reader can leave.
          if (visit % 2 === 0) {
            stream.close(http2.constants.NGHTTP2_CANCEL);
          } else {
            session.destroy();
          }
          onTestFinished(() => session.destroy());
        }
      }
    }
    // When this reader has reached the end, the service has noticed that the earlier ones left.
    await api.cancelRun(runId);
    await Array.fromAsync(api.followRun(runId));
    await until("all to be gone", () => service.app.countReaders() === 0 && sleepers() <= otherSleepersMax);
  });
});

/** The size of one run here: many times what sockets hold and what may be kept for a reader. */
const largeRunBytes = 16 * 1_048_576;
const largePieceChars = 65_536;

test("readers that never read cost no memory, and lose no result", { timeout: 120_000 }, async ({ provider }) => {
  provider.respond((wire) => {
    for (let bytes = 0; bytes < largeRunBytes; bytes += largePieceChars) {
      wire.reasoning("x".repeat(largePieceChars));
      wire.text("x".repeat(1_000));
    }
    wire.done("stop");
  });
  const service = await startService(modelFlags(provider));
  const api = grpc.connect(service);
  const { runId } = await startConversation(api);
  const results = await Array.fromAsync(api.followRun(runId));
  const bytesBefore = heldBytes();

  const stuck = shapes.flatMap((shape) =>
    Array.from({ length: 3 }, () => {
      const session = http2.connect(service.url);
      onTestFinished(() => session.destroy());
      session.on("error", () => {});
      const stream = session.request(streamHead(shape.contentType), { endStream: false });
      stream.on("error", () => {});
      stream.pause();
      stream.end(frame(encode(tailRun, shape.codec, { runId })));
      return { shape, stream, opened: once(stream, "response") };
    }),
  );
  await Promise.all(stuck.map(({ opened }) => opened));
  // This reader reaches the end after the stuck readers got all that they accept.
  expect(await Array.fromAsync(api.followRun(runId))).toHaveLength(results.length);
  // Node frees buffers in the background, some time after the collection that found them unused.
  const grownBytesMax = (stuck.length * largeRunBytes) / 4;
  await until("little to be held", () => heldBytes() - bytesBefore < grownBytesMax);

  for (const { shape, stream } of stuck) {
    const chunks: Buffer[] = await Array.fromAsync(stream);
    const messages = envelopesOf(Buffer.concat(chunks)).filter(({ flag }) => flag === 0);
    expect(messages.flatMap(({ data }) => sequencesIn(data, shape.codec))).toEqual(
      results.map(({ sequence }) => sequence),
    );
  }
  await until("the registrations to be gone", () => service.app.countReaders() === 0);
});

function sequencesIn(message: Buffer, codec: Shape["codec"]): number[] {
  const { results } =
    codec === "proto" ? fromBinary(tailRun.output, message) : fromJsonString(tailRun.output, message.toString());
  return results.map(({ sequence }) => Number(sequence));
}

function streamHead(contentType: string, method: DescMethodServerStreaming = tailRun): http2.OutgoingHttpHeaders {
  return {
    ":method": "POST",
    ":path": pathOf(method),
    "content-type": contentType,
    te: "trailers",
    ...credentialsOf(),
  };
}

/** How often the service checks an idle stream. */
const heartbeatMs = 15_000;
/** The service itself looks as often for runs that have ended elsewhere, until it has found that their readers left. */
const otherSleepersMax = 1;

/** A clock that runs as usual and counts the sleepers with this delay. */
function createCountingClock(countedMs: number): { clock: Clock; sleepers: () => number } {
  let count = 0;
  const sleep: Clock["sleep"] = async (delayMs, signal) => {
    const isCounted = delayMs === countedMs;
    count += isCounted ? 1 : 0;
    await systemClock.sleep(delayMs, signal);
    count -= isCounted ? 1 : 0;
  };
  return { clock: { ...systemClock, sleep }, sleepers: () => count };
}

/** Returns the memory that this process holds and that is not garbage. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Returns unusual requests, each as its difference from a good request for the run. */
function unusualRequests(
  { codec, contentType, encodingHeader, timeout }: Shape,
  { runId, ticket }: { readonly runId: string; readonly ticket: string },
): Record<string, Partial<WholeRequest>> {
  const isProto = codec === "proto";
  const good = encode(tailRun, codec, { runId });
  const messages: Record<string, Uint8Array> = {
    "an unknown run": encode(tailRun, codec, { runId: "01900000-0000-7000-8000-000000000000" }),
    "an invalid id": encode(tailRun, codec, { runId: "nonsense" }),
    "a place before the start": encode(tailRun, codec, { runId, after: -1n }),
    "a message that says nothing": Buffer.from(isProto ? "" : "{}"),
    // Field 1000, a string.
    "a field that nobody knows": isProto
      ? Buffer.concat([good, Buffer.from([0xc2, 0x3e, 0x01, 0x78])])
      : Buffer.from(JSON.stringify({ runId, color: "red" })),
    "bytes that are no message": Buffer.from([0xff, 0xff, 0xff]),
    "a text that is not UTF-8": isProto ? Buffer.from([0x0a, 0x01, 0xff]) : Buffer.from([0x22, 0xff, 0x22]),
    "no bytes": Buffer.alloc(0),
    "a list": Buffer.from("[]"),
    "a message over 4 MiB": Buffer.alloc(4_194_305),
  };
  const bodies: Record<string, Uint8Array> = {
    ...mapValues(messages, (message) => frame(message)),
    "no message": Buffer.alloc(0),
    "half a prefix": Buffer.alloc(3),
    "half a message": frame(good, { claimedBytes: good.length + 10 }),
    "two messages": Buffer.concat([frame(good), frame(good)]),
    "a message and half a prefix": Buffer.concat([frame(good), Buffer.alloc(2)]),
    "a message that claims 4 GiB": frame(good, { claimedBytes: 0xffff_ffff }),
    "a compressed message without its name": frame(gzipSync(good), { flag: 1 }),
    "an end in place of a message": frame(good, { flag: 2 }),
    "trailers in place of a message": frame(good, { flag: 0x80 }),
  };
  const headers: Record<string, Record<string, string>> = {
    "an invalid timeout": { [timeout.header]: timeout.wrong },
    "a timeout that is too long": { [timeout.header]: timeout.tooLong },
    "a deadline that is over": { [timeout.header]: timeout.over },
    "an unknown compression": { [encodingHeader]: "zstd" },
    "no compression, by name": { [encodingHeader]: "identity" },
    "the version of Connect": { "connect-protocol-version": "1" },
    "another version of Connect": { "connect-protocol-version": "2" },
    "a key that nobody has": { authorization: "Bearer nobody" },
    "a ticket to another stream": { authorization: `Bearer ${ticket}` },
    "somebody else's key": credentialsOf("stranger"),
    "a content type with parameters": { "content-type": `${contentType}; charset=utf-8` },
    "a content type in capitals": { "content-type": contentType.toUpperCase() },
    "an unknown codec": { "content-type": contentType.replace(/\+.*/, "+thrift") },
    "no codec": { "content-type": contentType.replace(/\+.*/, "") },
    "gRPC-Web as text": { "content-type": "application/grpc-web-text" },
    "a content type of unary calls": { "content-type": "text/plain" },
  };
  const compressions: Record<string, Uint8Array> = {
    "a compressed message": gzipSync(good),
    "compressed garbage": Buffer.from("no gzip at all"),
    "a bomb": gzipSync(Buffer.alloc(64 * 1_048_576)),
  };
  return {
    ...mapValues(bodies, (body) => ({ body })),
    ...mapValues(headers, (each) => ({ headers: { "content-type": contentType, ...each } })),
    ...mapValues(compressions, (message) => ({
      headers: { "content-type": contentType, [encodingHeader]: "gzip" },
      body: frame(message, { flag: 1 }),
    })),
    GET: { method: "GET" },
    PUT: { method: "PUT" },
  };
}

function mapValues<V, W>(record: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
