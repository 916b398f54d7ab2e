// Every limit of a connection and of an HTTP/1.1 request, against a peer that exceeds it, in the clear and over TLS. O2 and O3
// are in src/surfaces/http/one-port.ts. The limits of an HTTP/2 peer are in port-sessions.test.ts and port-streams.test.ts.

import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type OnePortHandler, onePortLimits } from "../../src/surfaces/http/one-port.ts";
import { beginningOfHead, hello } from "./h2-frames.ts";
import {
  closeAllAfterEach,
  connect2,
  connectPlain,
  connectRaw,
  eventually,
  get,
  type HeldResponse,
  holdResponses,
  openPort,
  openPortWithClock,
  quickH1,
  type RawPeer,
  request2,
  sweep,
  transports,
  waitForTcpHandles,
  writePart,
} from "./port-stage.ts";

closeAllAfterEach();

describe.each(transports)("silent peers, over %s", (transport) => {
  test("O2: a peer that sends one byte and falls silent is closed by the preface timeout", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const peer = await connectRaw(port);
    peer.socket.write("P");
    await get(port);
    await sweep(clock, onePortLimits.prefaceTimeoutMs);
    await get(port);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, onePortLimits.checkIntervalMs);
    await peer.closed;
  });

  test("O2: a peer that stops in the middle of the h2 preface is closed by the preface timeout", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const peer = await connectRaw(port, { alpn: "h2" });
    peer.socket.write(hello.subarray(0, 12));
    // The server's SETTINGS: it accepted the connection as h2.
    await peer.receivedBytes(9);
    await sweep(clock, onePortLimits.prefaceTimeoutMs + onePortLimits.checkIntervalMs);
    await peer.closed;
  });

  test("O2: a refused peer that stays connected is closed by the preface timeout", async () => {
    const { port, clock } = await openPortWithClock({ transport, protocols: "h2" });
    const peer = await connectRaw(port, { allowHalfOpen: true });
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await peer.received("HTTP/1.1 505 ");
    await sweep(clock, onePortLimits.prefaceTimeoutMs + onePortLimits.checkIntervalMs);
    // The two handles are the peer's own end and the port.
    await waitForTcpHandles(2);
  });

  test("a peer that hangs up before its protocol is known leaves nothing behind", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    peer.socket.end("PR");
    await peer.closed;
    await waitForTcpHandles(1);
  });

  test("O3: a broken preface ends its connection only", async () => {
    const port = await openPort({ transport });
    const bystander = connect2(port);
    await request2(bystander);
    const peer = await connectRaw(port, { alpn: "h2" });
    peer.socket.write("PRI * HTTP/1.0\r\nHost: test\r\n\r\n");
    await peer.closed;
    expect(await request2(bystander)).toBe("GET / over 2.0: 0 bytes");
  });

  test("O3: 300 connections that are reset before their protocol is known leave nothing behind", async () => {
    const port = await openPort({ transport });
    const beginning = port.isSecure ? beginningOfHandshake : Buffer.from("PRI * HT");
    for (let index = 0; index < 300; index++) {
      const { socket } = await connectPlain(port);
      socket.write(beginning.subarray(0, index % (beginning.length + 1)));
      if (index % 2 === 0) {
        await nextTurn();
      }
      socket.resetAndDestroy();
    }
    expect((await get(port)).status).toBe(200);
    await waitForTcpHandles(1);
  });
});

describe.each(transports)("a peer that never ends the head of an HTTP/2 request, over %s", (transport) => {
  // A peer in the middle of a head cannot answer a PING. Until a PING is missed such a peer costs what an idle one does.
  test("O2: is closed like a peer that has vanished", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const peer = await connectRaw(port, { alpn: "h2" });
    peer.socket.write(Buffer.concat([hello, beginningOfHead(1)]));
    await peer.receivedBytes(9);
    await get(port);
    await sweep(clock, onePortLimits.h2PingIntervalMs + onePortLimits.h2PingTimeoutMs);
    await get(port);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, onePortLimits.checkIntervalMs);
    await peer.closed;
  });
});

describe.each(transports)("slow HTTP/1.1 requests, over %s", (transport) => {
  test("O2: headers that trickle in get 408", async () => {
    const { h1CheckIntervalMs, h1HeadersTimeoutMs } = quickH1;
    const port = await openPort({ transport, limits: { h1CheckIntervalMs, h1HeadersTimeoutMs } });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n");
    await peer.received("HTTP/1.1 408 ");
    await peer.closed;
  });

  test("O2: 200 slow connections lose their sockets and delay no other client", async () => {
    const { h1CheckIntervalMs, h1HeadersTimeoutMs } = quickH1;
    const port = await openPort({ transport, limits: { h1CheckIntervalMs, h1HeadersTimeoutMs } });
    const peers = await Promise.all(Array.from({ length: 200 }, () => connectRaw(port)));
    for (const { socket } of peers) {
      socket.write("GET / HTTP/1.1\r\nHost: test\r\nX-Slow: a");
    }
    expect((await get(port)).status).toBe(200);
    await Promise.all(peers.map(({ closed }) => closed));
    await waitForTcpHandles(1);
  });

  test("O2: a body that never arrives gets 408", async () => {
    const port = await openPort({ transport, limits: quickH1 });
    const peer = await connectRaw(port);
    peer.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    await peer.received("HTTP/1.1 408 ");
    await peer.closed;
  });

  test("O2: the rest of an answered request may come within the linger timeout, and later costs the connection", async () => {
    const { port, clock } = await openPortWithClock({ transport, handler: answerAtOnce });
    const peers = [await connectRaw(port), await connectRaw(port)];
    for (const { socket, received } of peers) {
      socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
      await received("enough");
    }
    const [prompt, endless] = peers as [RawPeer, RawPeer];
    await sweep(clock, onePortLimits.h1LingerTimeoutMs);
    prompt.socket.write("defghijGET /next HTTP/1.1\r\nHost: test\r\n\r\n");
    await eventually(() => expect(prompt.text().split("enough")).toHaveLength(3));
    expect(endless.socket.closed).toBe(false);
    await sweep(clock, 2 * onePortLimits.checkIntervalMs);
    await endless.closed;
    expect(prompt.socket.closed).toBe(false);
  });

  test("a response may last longer than a request may take to arrive", async () => {
    const opened = Promise.withResolvers<HeldResponse>();
    const port = await openPort({
      transport,
      handler: (_request, response) => {
        writePart(response, ": open\n\n");
        opened.resolve(response);
      },
      limits: quickH1,
    });
    const reader = await connectRaw(port);
    reader.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await reader.received(": open");
    // A later request that times out shows that the time has passed.
    const late = await connectRaw(port);
    late.socket.write("POST / HTTP/1.1\r\n");
    await late.received("HTTP/1.1 408 ");
    writePart(await opened.promise, "data: still here\n\n");
    await reader.received("data: still here");
  });

  test("O2: a response whose reader stops reading is given up", async () => {
    const cut = Promise.withResolvers<void>();
    const port = await openPort({
      transport,
      handler: (_request, response) => {
        response.once("close", cut.resolve);
        writePart(response, Buffer.alloc(64 * 1024 * 1024));
      },
      limits: { h1StallTimeoutMs: 100 },
    });
    const peer = await connectRaw(port);
    peer.socket.pause();
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await cut.promise;
    await waitForTcpHandles(2);
  });

  // The system finds a reader that vanished 10 s after its first probe. It does not probe while sent data is unconfirmed: then
  // it gives up after 15 minutes, unless it is configured otherwise (docs/operations).
  test("O2: a quiet connection is probed by the system after 20 s", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await held.next();
    // Waits until all sent data is confirmed.
    const dueMs = await eventually(() => {
      const { isProbe, dueMs } = timerOf(port.address.port, peer.socket.localPort);
      expect(isProbe).toBe(true);
      return dueMs;
    });
    expect(dueMs).toBeGreaterThan(onePortLimits.h2PingIntervalMs / 2);
    expect(dueMs).toBeLessThanOrEqual(onePortLimits.h2PingIntervalMs);
  });

  test("O2: an idle kept-alive connection is closed", async () => {
    // Node adds a second of its own, which it does not announce.
    const port = await openPort({ transport, limits: { checkIntervalMs: 10, h1KeepAliveTimeoutMs: 10 } });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await peer.received("0 bytes");
    await peer.closed;
  });
});

describe.each(transports)("limits, over %s", (transport) => {
  test("17 KB of headers are refused on both protocols, 12 KB pass on both", async () => {
    const port = await openPort({ transport });
    const session = connect2(port);
    await request2(session);
    const fits = { "x-large": "a".repeat(12 * 1024) };
    const exceeds = { "x-large": "a".repeat(17 * 1024) };
    expect((await get(port, { headers: fits })).status).toBe(200);
    expect((await get(port, { headers: exceeds })).status).toBe(431);
    expect(await request2(session, fits)).toContain("GET /");
    await expect(request2(session, exceeds)).rejects.toThrow("NGHTTP2_ENHANCE_YOUR_CALM");
  });

  test("connections beyond the limit are closed at once", async () => {
    const port = await openPort({ transport, limits: { connectionsMax: 1 } });
    const session = connect2(port);
    await request2(session);
    await (await connectPlain(port)).closed;
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("connections of one address beyond its limit are closed at once, those of others are not", async () => {
    const port = await openPort({ transport, limits: { connectionsPerAddressMax: 2 } });
    const session = connect2(port);
    await request2(session);
    const silent = await connectPlain(port);
    await (await connectPlain(port)).closed;
    await expect(get(port)).rejects.toThrow();
    // All of 127.0.0.0/8 is this machine.
    expect((await get(port, { localAddress: "127.0.0.2" })).status).toBe(200);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
    expect(silent.socket.closed).toBe(false);
  });

  test("an address that closes a connection can open another one, and no more", async () => {
    const port = await openPort({ transport, limits: { connectionsPerAddressMax: 2 } });
    await connectPlain(port);
    for (let round = 0; round < 3; round++) {
      expect((await get(port)).status).toBe(200);
      // Both ends of the first connection, and the port: the port has noticed that the second one closed.
      await waitForTcpHandles(3);
    }
    await connectPlain(port);
    await (await connectPlain(port)).closed;
  });

  test("refused connections do not reduce the limit of their address", async () => {
    const port = await openPort({ transport, limits: { connectionsPerAddressMax: 1 } });
    const first = await connectPlain(port);
    for (let round = 0; round < 3; round++) {
      await (await connectPlain(port)).closed;
    }
    expect(first.socket.closed).toBe(false);
    first.socket.destroy();
    await waitForTcpHandles(1);
    expect((await get(port)).status).toBe(200);
  });
});

/** Returns the next action of the system on a connection between two ports of 127.0.0.1, and its time. */
function timerOf(localPort: number, remotePort: number | undefined): { isProbe: boolean; dueMs: number } {
  const end = (port: number | undefined): string => `0100007F:${port?.toString(16).toUpperCase().padStart(4, "0")}`;
  const ends = ` ${end(localPort)} ${end(remotePort)} `;
  const line = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .find((each) => each.includes(ends));
  // The kind of the timer and its time, in hundredths of a second.
  const [, kind, time] = / (\d\d):([0-9A-F]{8}) /.exec(line?.slice(line.indexOf(ends) + ends.length) ?? "") ?? [];
  return { isProbe: kind === "02", dueMs: Number.parseInt(time ?? "", 16) * 10 };
}

/** Answers without reading the request. */
function answerAtOnce(...[_request, response]: Parameters<OnePortHandler>): void {
  response.end("enough");
}

/** The head of a TLS record with a ClientHello of 512 bytes, and the first of its bytes. */
const beginningOfHandshake = Buffer.from("16030102000100", "hex");
