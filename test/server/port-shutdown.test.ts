// A shutdown that ends whichever way the peers behave, in the clear and over TLS. O4 is in src/surfaces/http/one-port.ts.

import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { hello } from "./h2-frames.ts";
import {
  closeAllAfterEach,
  connect2,
  connectPlain,
  connectRaw,
  createAgent,
  get,
  holdResponses,
  openPort,
  request2,
  transports,
  waitForTcpHandles,
  writePart,
} from "./port-stage.ts";

/** Longer than a test may take: what ends sooner did not wait for it. */
const endlessMs = 3_600_000;

closeAllAfterEach();

describe.each(transports)("shutdown over %s", (transport) => {
  test("a running h2 stream may finish, and GOAWAY forbids new ones", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const session = connect2(port);
    const told = once(session, "goaway");
    const running = request2(session);
    const response = await held.next();
    const done = port.shutdown(endlessMs);
    await told;
    response.end("finished");
    expect(await running).toBe("finished");
    await done;
  });

  test("idle connections and those of unknown protocol close at once, and the port refuses new ones", async () => {
    const port = await openPort({ transport });
    const idle = await connectRaw(port);
    idle.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    const undecided = await connectRaw(port);
    undecided.socket.write("PR");
    const silent = await connectRaw(port);
    const speechless = await connectPlain(port);
    const session = connect2(port);
    await idle.received("0 bytes");
    await request2(session);
    const done = port.shutdown(endlessMs);
    const closed = [idle, undecided, silent, speechless].map((peer) => peer.closed);
    await Promise.all([...closed, once(session, "close"), done]);
    await expect(get(port)).rejects.toThrow("ECONNREFUSED");
  });

  test("a running h1 request is answered with Connection: close", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const answer = get(port, { agent: createAgent(port) });
    const response = await held.next();
    const done = port.shutdown(endlessMs);
    response.end("finished");
    expect(await answer).toMatchObject({ body: "finished", headers: { connection: "close" } });
    await done;
  });

  test("an h1 response that announced keep-alive finishes, then its connection closes", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    const response = await held.next();
    writePart(response, "begun");
    await peer.received("begun");
    const done = port.shutdown(endlessMs);
    response.end("finished");
    await peer.received("finished");
    await done;
  });

  test("O4: clients that never close are destroyed after the grace period", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const waiting = await connectRaw(port);
    waiting.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await held.next();
    const halfSent = await connectRaw(port);
    halfSent.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabc");
    await held.next();
    const silent = await connectRaw(port, { alpn: "h2", allowHalfOpen: true });
    silent.socket.write(hello);
    await silent.receivedBytes(9);
    const session = connect2(port);
    const cut = expect(request2(session)).rejects.toThrow("the stream was cut");
    await held.next();
    await port.shutdown(50);
    await Promise.all([waiting.closed, halfSent.closed, cut]);
    // Only the end of the silent peer is left.
    silent.socket.destroy();
    await waitForTcpHandles(0);
  });

  test("a second shutdown with a shorter grace period overrides the first, and a third has no effect", async () => {
    const held = holdResponses();
    const port = await openPort({ transport, handler: held.handler });
    const peer = await connectRaw(port);
    peer.socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    await held.next();
    const patient = port.shutdown(endlessMs);
    await port.shutdown(0);
    await patient;
    await peer.closed;
    await port.shutdown(endlessMs);
  });
});
