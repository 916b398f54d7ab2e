// HTTP/2 requests that never end, from peers that are slow or that were answered before: they cost a stream, never a session.
// In the clear and over TLS; R1 and R2 are in src/surfaces/http/port/streams.ts.

import { once } from "node:events";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { messageBytesMax } from "../../src/platform/config/limits.ts";
import { type OnePortHandler, onePortLimits } from "../../src/surfaces/http/one-port.ts";
import { callGrpc } from "./grpc-peer.ts";
import {
  data,
  type Frame,
  frameTypes,
  hasEnded,
  hello,
  helloWithoutWindow,
  readFrames,
  request,
  resetsOf,
} from "./h2-frames.ts";
import {
  closeAllAfterEach,
  connect2,
  connectRaw,
  eventually,
  type HeldResponse,
  holdResponses,
  openPort,
  openPortWithClock,
  type RawPeer,
  request2,
  sweep,
  type TestPort,
  transports,
  writePart,
} from "./port-stage.ts";

const { checkIntervalMs, h2RequestTimeoutMs } = onePortLimits;
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants;

/** These tests move the clock in leaps, in which no peer could answer a PING. */
const limits = { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2IdleTimeoutMs: Number.POSITIVE_INFINITY };

const gRpc = { "content-type": "application/grpc+proto", te: "trailers" };

closeAllAfterEach();

describe.each(transports)("R1: slow requests, over %s", (transport) => {
  test("a request that is not received in time is reset, and the session continues", async () => {
    const { port, clock } = await openPortWithClock({ transport, limits });
    const session = connect2(port);
    const stream = post(session);
    stream.write("abc");
    await request2(session);
    await sweep(clock, h2RequestTimeoutMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
    expect(stream.closed).toBe(false);
    await sweep(clock, checkIntervalMs);
    await once(stream, "close");
    expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a slow request has no more time than a stalled one", async () => {
    const { port, clock } = await openPortWithClock({ transport, limits });
    const session = connect2(port);
    const stream = post(session);
    for (let passedMs = 0; passedMs < h2RequestTimeoutMs; passedMs += 5_000) {
      stream.write("a");
      await request2(session);
      await sweep(clock, 5_000);
    }
    await sweep(clock, checkIntervalMs);
    await once(stream, "close");
    expect(stream.rstCode).toBe(NGHTTP2_CANCEL);
  });

  test("the handler of a reset request learns that no more data will come", async () => {
    const gone = Promise.withResolvers<void>();
    const handler: OnePortHandler = (request, response) => {
      request.once("aborted", () => gone.resolve());
      response.once("close", () => response.end("too late"));
    };
    const { port, clock } = await openPortWithClock({ transport, limits, handler });
    const session = connect2(port);
    const stream = post(session);
    await arrived(session);
    await sweep(clock, h2RequestTimeoutMs + checkIntervalMs);
    await Promise.all([gone.promise, once(stream, "close")]);
  });

  test("the answer to a received request may take any time", async () => {
    const held = holdResponses();
    const { port, clock } = await openPortWithClock({ transport, limits, handler: held.handler });
    const session = connect2(port);
    const stream = post(session);
    stream.end("abc");
    const answer = text(stream);
    const response = await held.next();
    await arrived(session);
    await sweep(clock, 2 * h2RequestTimeoutMs);
    writePart(response, "late, ");
    await sweep(clock, 2 * h2RequestTimeoutMs);
    response.end("but whole");
    expect(await answer).toBe("late, but whole");
  });

  test("a request may last as long as its answer once the answer has begun", async () => {
    const { port, clock } = await openPortWithClock({ transport, limits, handler: echo });
    const session = connect2(port);
    const stream = post(session);
    stream.write("one, ");
    await once(stream, "response");
    await sweep(clock, 3 * h2RequestTimeoutMs);
    stream.end("two");
    expect(await text(stream)).toBe("one, two");
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });
});

// Where the clock of the port stands still, ends happen by themselves and not by a check.

describe.each(transports)("R2: a request that is answered before it is received, over %s", (transport) => {
  test.each([
    ["that was not read", () => {}],
    ["of which a part was read", readOne],
    ["that is being read", (request) => void request.resume()],
  ] satisfies [string, (request: Parameters<OnePortHandler>[0]) => void][])(
    "a request %s ends with its answer, without an error, and the session continues",
    async (_what, read) => {
      const { port } = await openPortWithClock({
        transport,
        handler: (request, response) => {
          read(request);
          response.end("enough");
        },
      });
      const session = connect2(port);
      const stream = post(session);
      stream.write("abc");
      const ended = once(stream, "close");
      expect(await text(stream)).toBe("enough");
      await ended;
      expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
      expect(await request2(session)).toBe("enough");
    },
  );

  test("trailers arrive before the end", async () => {
    const { port } = await openPortWithClock({ transport, handler: answerWithTrailers });
    const stream = post(connect2(port));
    stream.write("abc");
    const [[trailers]] = await Promise.all([once(stream, "trailers"), text(stream), once(stream, "close")]);
    expect(trailers).toMatchObject({ "grpc-status": "0" });
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });

  test("an answer of 204 without a body ends the request", async () => {
    const { port } = await openPortWithClock({ transport, handler: answerWithoutBody });
    const stream = post(connect2(port));
    const [[answer]] = await Promise.all([once(stream, "response"), text(stream), once(stream, "close")]);
    expect(answer).toMatchObject({ ":status": 204 });
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });

  test("an answer to HEAD, whose end Node does not report, is noticed by the next check", async () => {
    const { port, clock } = await openPortWithClock({ transport, handler: answerWithoutBody });
    const session = connect2(port);
    const stream = session.request({ ":method": "HEAD" }, { endStream: false });
    await Promise.all([once(stream, "response"), text(stream)]);
    await arrived(session);
    await sweep(clock, checkIntervalMs);
    await once(stream, "close");
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });

  test("a long answer arrives whole", async () => {
    const long = Buffer.alloc(4 * 1024 * 1024, "x");
    const port = await openPort({ transport, handler: (_request, response) => response.end(long) });
    const stream = post(connect2(port));
    stream.write("abc");
    const ended = once(stream, "close");
    expect((await text(stream)).length).toBe(long.length);
    await ended;
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });

  test("on the wire the end is RST_STREAM with NO_ERROR after the end of the answer", async () => {
    const { port } = await openPortWithClock({ transport, handler: answerWithTrailers });
    const peer = await openSession(port, hello);
    peer.socket.write(Buffer.concat([request(1, "POST"), data(1, Buffer.from("abc"), { isLast: false })]));
    const frames = await peer.framesWhen((frames) => resetsOf(frames, 1).length > 0);
    expect(resetsOf(frames, 1)).toEqual([NGHTTP2_NO_ERROR]);
    const beforeReset = frames.slice(
      0,
      frames.findIndex(({ type }) => type === frameTypes.reset),
    );
    expect(hasEnded(beforeReset, 1)).toBe(true);
  });

  test.each([
    ["nobody reads", () => {}],
    ["nobody reads to the end", readOne],
    ["is read", (request) => void request.resume()],
  ] satisfies [string, (request: Parameters<OnePortHandler>[0]) => void][])(
    "a peer that has sent everything gets no RST_STREAM, and its stream ends, when its body %s",
    async (_what, read) => {
      const responses: HeldResponse[] = [];
      const closed: HeldResponse[] = [];
      const { port } = await openPortWithClock({
        transport,
        handler: (request, response) => {
          read(request);
          responses.push(response);
          response.once("close", () => closed.push(response));
        },
      });
      const peer = await openSession(port, hello);
      const body = [data(1, Buffer.alloc(16_000), { isLast: false }), data(1, Buffer.alloc(16_000), { isLast: true })];
      peer.socket.write(Buffer.concat([request(1, "POST"), ...body, request(3, "GET")]));
      await eventually(() => expect(responses.length).toBe(2));
      for (const response of responses) {
        response.end("enough");
      }
      await eventually(() => expect(closed).toHaveLength(2));
      // All frames for the first stream arrive before the answer to this.
      peer.socket.write(request(5, "GET"));
      await eventually(() => expect(responses.length).toBe(3));
      responses[2]?.end("enough");
      const frames = await peer.framesWhen((frames) => hasEnded(frames, 5));
      expect(hasEnded(frames, 1)).toBe(true);
      expect(frames.filter(({ type }) => type === frameTypes.reset)).toEqual([]);
    },
  );

  test("a received and partly read request is not kept until the rest is read", async () => {
    const arrived = Promise.withResolvers<http2.Http2ServerResponse>();
    const { port } = await openPortWithClock({
      transport,
      handler: (request, response) => {
        readOne(request);
        arrived.resolve(response as http2.Http2ServerResponse);
      },
    });
    // More than Node passes on to a request that is not read, less than it takes from the wire.
    const answer = request2(connect2(port), { ":method": "POST" }, Buffer.alloc(120_000));
    const response = await arrived.promise;
    await eventually(() => expect(response.stream.state.remoteClose).toBe(1));
    const closed = once(response, "close");
    response.end("enough");
    expect(await answer).toBe("enough");
    await closed;
  });

  test("an answer that waits for its peer to read arrives whole, and then ends its stream", async () => {
    // A lot more than the system buffers for a peer that does not read.
    const long = Buffer.alloc(24 * 1024 * 1024);
    const handled = Promise.withResolvers<void>();
    const handler: OnePortHandler = (_request, response) => {
      response.end(long);
      handled.resolve();
    };
    const port = await openPort({ transport, handler });
    const peer = await openSession(port, helloWithoutWindow());
    peer.socket.pause();
    peer.socket.write(request(1, "POST"));
    await handled.promise;
    for (let turn = 0; turn < 100; turn++) {
      await nextTurn();
    }
    peer.socket.resume();
    await peer.receivedBytes(long.length);
    const frames = await peer.framesWhen((frames) => resetsOf(frames, 1).length > 0);
    expect(resetsOf(frames, 1)).toEqual([NGHTTP2_NO_ERROR]);
    expect(countDataBytes(frames, 1)).toBe(long.length);
  });

  test("20 unread bodies leave their session enough window for another body", async () => {
    const port = await openPort({
      transport,
      handler: (request, response) => {
        if (request.url === "/wanted") {
          request.pipe(response as NodeJS.WritableStream);
        } else {
          readOne(request);
          response.end("enough");
        }
      },
    });
    const session = connect2(port);
    for (let round = 0; round < 20; round++) {
      const stream = post(session);
      stream.write(Buffer.alloc(128 * 1024));
      await Promise.all([text(stream), once(stream, "close")]);
    }
    const wanted = Buffer.alloc(1024 * 1024, "w");
    expect((await request2(session, { ":path": "/wanted", ":method": "POST" }, wanted)).length).toBe(wanted.length);
  });
});

describe.each(transports)("R2: a gRPC message that is too large, over %s", (transport) => {
  const path = "/grpc.health.v1.Health/Check";
  const tooLarge = Buffer.alloc(messageBytesMax + 1);
  const handler = connectNodeAdapter({
    routes: (router) => router.service(Health, {}),
    readMaxBytes: messageBytesMax,
  });

  test("grpc-js gets RESOURCE_EXHAUSTED", async () => {
    const { port } = await openPortWithClock({ transport, handler });
    await expect(callGrpc(port, path, tooLarge)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });

  test("the stream ends with the answer, without waiting for a reset by the client", async () => {
    const { port } = await openPortWithClock({ transport, handler });
    const stream = connect2(port).request({ ...gRpc, ":method": "POST", ":path": path });
    stream.resume();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(tooLarge.length, 1);
    stream.write(head);
    stream.write(tooLarge);
    const seen: http2.IncomingHttpHeaders[] = [];
    stream.on("response", (headers) => seen.push(headers));
    stream.on("trailers", (headers) => seen.push(headers));
    await once(stream, "close");
    expect(seen.at(-1)).toMatchObject({ "grpc-status": String(status.RESOURCE_EXHAUSTED) });
    expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });
});

/** Opens a POST whose body the test controls. */
function post(session: http2.ClientHttp2Session): http2.ClientHttp2Stream {
  return session.request({ ":method": "POST" }, { endStream: false });
}

/** Resolves when the port has received everything that was sent before. */
async function arrived(session: http2.ClientHttp2Session): Promise<void> {
  if (session.connecting) {
    await once(session, "connect");
  }
  await new Promise((resolve) => session.ping(resolve));
  await nextTurn();
}

function echo(...[request, response]: Parameters<OnePortHandler>): void {
  request.pipe(response as NodeJS.WritableStream);
}

function countDataBytes(frames: readonly Frame[], streamId: number): number {
  return frames
    .filter((each) => each.type === frameTypes.data && each.streamId === streamId)
    .reduce((sum, { payload }) => sum + payload.length, 0);
}

/** Reads until some data has come, and then stops. */
function readOne(request: Parameters<OnePortHandler>[0]): void {
  request.once("data", () => request.pause());
}

function answerWithoutBody(...[_request, response]: Parameters<OnePortHandler>): void {
  response.statusCode = 204;
  response.end();
}

function answerWithTrailers(...[request, response]: Parameters<OnePortHandler>): void {
  if (!(response instanceof http2.Http2ServerResponse)) {
    throw new Error("this came over HTTP/1.1");
  }
  response.addTrailers({ "grpc-status": "0" });
  request.once("data", () => {
    response.write("enough");
    response.end();
  });
}

interface FramePeer extends RawPeer {
  framesWhen(condition: (frames: Frame[]) => boolean): Promise<Frame[]>;
}

async function openSession(port: TestPort, greeting: Buffer): Promise<FramePeer> {
  const peer = await connectRaw(port, { alpn: "h2" });
  peer.socket.write(greeting);
  return {
    ...peer,
    framesWhen: (condition) =>
      eventually(() => {
        const frames = readFrames(peer.bytes());
        expect(condition(frames)).toBe(true);
        return frames;
      }),
  };
}
