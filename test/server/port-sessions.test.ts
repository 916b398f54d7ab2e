// An HTTP/2 peer and its session: how much a session may hold, whether the peer is still connected, and how long it may stay;
// in the clear and over TLS. O2 and O3 are in src/surfaces/http/one-port.ts.

import { once } from "node:events";
import http2 from "node:http2";
import { describe, expect, test } from "vitest";
import { onePortLimits } from "../../src/surfaces/http/one-port.ts";
import { cancel, hello, readFrames, request, resetsOf } from "./h2-frames.ts";
import {
  closeAllAfterEach,
  connect2,
  connectRaw,
  eventually,
  get,
  holdResponses,
  openPort,
  openPortWithClock,
  request2,
  sweep,
  transports,
  waitForTcpHandles,
} from "./port-stage.ts";

const { checkIntervalMs, h2IdleTimeoutMs, h2LingerTimeoutMs, h2PingIntervalMs, h2PingTimeoutMs, h2StreamsMax } =
  onePortLimits;

closeAllAfterEach();

describe.each(transports)("limits of an h2 peer, over %s", (transport) => {
  test("O2: a peer that floods with stream resets loses its session, and other peers keep theirs", async () => {
    const port = await openPort({ transport });
    const bystander = connect2(port);
    await request2(bystander);
    const attacker = await connectRaw(port, { alpn: "h2" });
    attacker.socket.write(hello);
    for (let count = 0; count < 400; count++) {
      const streamId = 2 * count + 1;
      attacker.socket.write(Buffer.concat([request(streamId, "GET"), cancel(streamId)]));
    }
    await attacker.closed;
    expect(await request2(bystander)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a peer learns its maximum of streams from SETTINGS, and one more stream is refused", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const session = connect2(port);
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(h2StreamsMax);
    const peer = await connectRaw(port, { alpn: "h2" });
    peer.socket.write(hello);
    for (let count = 0; count <= h2StreamsMax; count++) {
      peer.socket.write(request(2 * count + 1, "GET"));
    }
    const lastId = 2 * h2StreamsMax + 1;
    await eventually(() => {
      expect(resetsOf(readFrames(peer.bytes()), lastId)).toEqual([http2.constants.NGHTTP2_REFUSED_STREAM]);
    });
    for (let count = 0; count < h2StreamsMax; count++) {
      (await held.next()).end();
    }
  });
});

describe.each(transports)("h2 sessions over time, over %s", (transport) => {
  test("O2: a peer that no longer answers PING is found within 30 s", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const peer = await connectRaw(port, { alpn: "h2" });
    peer.socket.write(hello);
    await peer.receivedBytes(9);
    await get(port);
    await sweep(clock, h2PingIntervalMs + h2PingTimeoutMs);
    await get(port);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, checkIntervalMs);
    await peer.closed;
    expect(h2PingIntervalMs + h2PingTimeoutMs + 2 * checkIntervalMs).toBeLessThanOrEqual(30_000);
  });

  test("a peer that answers PING keeps its session", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const session = connect2(port);
    await request2(session);
    for (let round = 0; round < 3; round++) {
      const pinged = once(session, "ping");
      await sweep(clock, h2PingIntervalMs);
      await pinged;
      // The answer to the PING is before this request on the wire.
      await request2(session);
    }
    await sweep(clock, h2PingTimeoutMs + checkIntervalMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a process that was stopped for a minute keeps the sessions of its peers", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const session = connect2(port);
    await request2(session);
    await sweep(clock, h2PingIntervalMs);
    clock.advance(60_000);
    await sweep(clock, checkIntervalMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("a session without streams gets GOAWAY after the idle timeout", async () => {
    const { port, clock } = await openPortWithClock({
      transport,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY },
    });
    const session = connect2(port);
    await request2(session);
    const told = once(session, "goaway");
    const ended = once(session, "close");
    await sweep(clock, h2IdleTimeoutMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
    await sweep(clock, h2IdleTimeoutMs + checkIntervalMs);
    expect((await told)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await ended;
  });

  test("a peer that closes its side leaves nothing behind", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port, { alpn: "h2", allowHalfOpen: true });
    peer.socket.write(hello);
    await peer.receivedBytes(9);
    peer.socket.end();
    await peer.closed;
    await waitForTcpHandles(1);
  });

  test("O2: a peer that stays after GOAWAY is destroyed", async () => {
    const { port, clock } = await openPortWithClock({ transport, limits: { h2IdleTimeoutMs: 1_000 } });
    const peer = await connectRaw(port, { alpn: "h2", allowHalfOpen: true });
    const hungUp = once(peer.socket, "end");
    peer.socket.write(hello);
    await peer.receivedBytes(9);
    await get(port);
    await sweep(clock, 1_000 + checkIntervalMs);
    await hungUp;
    // The peer's own socket, the server's end of it, and the port.
    await waitForTcpHandles(3);
    await sweep(clock, h2LingerTimeoutMs + checkIntervalMs);
    await waitForTcpHandles(2);
  });

  test("an aged session takes no new streams, lets the running one finish, and ends", async () => {
    const held = holdResponses();
    const { port, clock } = await openPortWithClock({
      transport,
      handler: held.handler,
      limits: { h2SessionAgeMs: 10_000, h2RetiredAgeMs: 60_000 },
    });
    const session = connect2(port);
    const told = once(session, "goaway");
    const ended = once(session, "close");
    const running = request2(session);
    const response = await held.next();
    await sweep(clock, 12_000);
    await told;
    await expect(request2(session)).rejects.toThrow("GOAWAY");
    response.end("finished");
    expect(await running).toBe("finished");
    await ended;
  });

  test("sessions that were opened together reach their maximum age at different times", async () => {
    const { port, clock } = await openPortWithClock({
      transport,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2IdleTimeoutMs: 0, h2SessionAgeMs: 100_000 },
    });
    const ages: number[] = [];
    let ageMs = 0;
    const sessions = Array.from({ length: 10 }, () => connect2(port));
    for (const session of sessions) {
      session.once("goaway", () => ages.push(ageMs));
      await request2(session);
    }
    for (; ages.length < sessions.length && ageMs <= 112_000; ageMs += checkIntervalMs) {
      await sweep(clock, checkIntervalMs);
      // Everything that the sweep sent arrives before this answer.
      await get(port);
    }
    await eventually(() => expect(ages).toHaveLength(sessions.length));
    expect(new Set(ages).size).toBeGreaterThan(sessions.length / 2);
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(90_000 - checkIntervalMs);
  });

  test("O2: a stream that outlives its aged session is cut", async () => {
    const held = holdResponses();
    const { port, clock } = await openPortWithClock({
      transport,
      handler: held.handler,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2RetiredAgeMs: 5_000, h2SessionAgeMs: 10_000 },
    });
    const session = connect2(port);
    const cut = expect(request2(session)).rejects.toThrow(/the stream was cut|ECONNRESET/);
    await held.next();
    await sweep(clock, 17_000);
    await cut;
  });
});
