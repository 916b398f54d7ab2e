// Timeouts that are switched off by 0: what may then take any time, and that the other limits still hold.

import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { onePortLimits } from "../../src/surfaces/http/one-port.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import {
  closeAllAfterEach,
  connect2,
  connectRaw,
  openPort,
  openPortWithClock,
  request2,
  sweep,
  transports,
} from "./port-stage.ts";

const { h2IdleTimeoutMs, h2RequestTimeoutMs } = onePortLimits;

describe.each(transports)("without limits, over %s", (transport) => {
  closeAllAfterEach();

  test("an HTTP/2 session without streams stays", async () => {
    const { port, clock } = await openPortWithClock({
      transport,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2IdleTimeoutMs: 0 },
    });
    const session = connect2(port);
    await request2(session);
    await sweep(clock, 3 * h2IdleTimeoutMs);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test("an HTTP/2 request may arrive slowly", async () => {
    const { port, clock } = await openPortWithClock({
      transport,
      limits: { h2PingIntervalMs: Number.POSITIVE_INFINITY, h2RequestTimeoutMs: 0 },
    });
    const session = connect2(port);
    const upload = session.request({ ":method": "POST", ":path": "/" });
    const answer = text(upload);
    upload.write("begin");
    await request2(session);
    await sweep(clock, 3 * h2RequestTimeoutMs);
    upload.end("end");
    expect(await answer).toBe("POST / over 2.0: 8 bytes");
  });

  test("a kept-alive HTTP/1.1 connection stays, even longer than a response may stall", async () => {
    const limits = { checkIntervalMs: 10, h1StallTimeoutMs: 100, h1KeepAliveTimeoutMs: 0 };
    const port = await openPort({ transport, limits });
    const idle = await connectRaw(port);
    idle.socket.write("GET /first HTTP/1.1\r\nHost: test\r\n\r\n");
    await idle.received("0 bytes");
    // A connection that begins later and times out shows that the time has passed.
    const stalled = await connectRaw(port);
    stalled.socket.write("GET / HTTP/1.1\r\n");
    await stalled.closed;
    idle.socket.write("GET /second HTTP/1.1\r\nHost: test\r\n\r\n");
    await idle.received("GET /second over 1.1: 0 bytes");
  });

  test.each([
    ["a head counts as part of its request", { h1HeadersTimeoutMs: 0, h1RequestTimeoutMs: 60 }],
    ["a head may not take longer than its request", { h1HeadersTimeoutMs: 60_000, h1RequestTimeoutMs: 60 }],
    ["a head alone may be limited", { h1HeadersTimeoutMs: 60, h1RequestTimeoutMs: 0 }],
  ])("%s", async (_what, limits) => {
    const port = await openPort({ transport, limits: { h1CheckIntervalMs: 10, ...limits } });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n");
    await peer.received("HTTP/1.1 408 ");
  });

  test("an HTTP/1.1 request may arrive slowly", async () => {
    const limits = { h1CheckIntervalMs: 10, h1HeadersTimeoutMs: 60, h1RequestTimeoutMs: 0 };
    const port = await openPort({ transport, limits });
    const slow = await connectRaw(port);
    slow.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 8\r\n\r\nbegin");
    // A head that begins later and times out shows that the time has passed.
    const late = await connectRaw(port);
    late.socket.write("GET / HTTP/1.1\r\n");
    await late.received("HTTP/1.1 408 ");
    slow.socket.write("end");
    await slow.received("POST / over 1.1: 8 bytes");
  });
});

test("a service with all four timeouts set to 0 answers", async () => {
  const service = await startService({
    serverReadHeaderTimeoutSec: 0,
    serverReadTimeoutSec: 0,
    serverWriteTimeoutSec: 0,
    serverIdleTimeoutSec: 0,
  });
  const response = await fetch(`${service.url}/v1/sessions`, { headers: credentialsOf() });
  expect([response.status, await response.json()]).toEqual([200, expect.anything()]);
});
