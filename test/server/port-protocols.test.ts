// The port, from outside: both protocols in every way in which clients open them, ports of one protocol, and ports that cannot
// be opened.

import http2 from "node:http2";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";
import { listenOnePort } from "../../src/surfaces/http/one-port.ts";
import { callGrpc } from "./grpc-peer.ts";
import { hello } from "./h2-frames.ts";
import {
  closeAllAfterEach,
  connect2,
  connectRaw,
  createAgent,
  describeRequest,
  get,
  openPort,
  request2,
  transports,
  trickle,
  waitForTcpHandles,
  writeByBytes,
} from "./port-stage.ts";

/** The headers that `curl --http2` adds to a request in the clear. */
const h2cUpgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

closeAllAfterEach();

describe.each(transports)("both protocols over %s", (transport) => {
  test("a gRPC client gets its message and its trailers", async () => {
    const port = await openPort({
      transport,
      handler: (request, response) => {
        if (!(response instanceof http2.Http2ServerResponse)) {
          throw new Error("gRPC came over HTTP/1.1");
        }
        response.setHeader("content-type", "application/grpc+proto");
        response.addTrailers({ "grpc-status": "0" });
        request.pipe(response);
      },
    });
    const answer = await callGrpc(port, "/test.Echo/Echo", Buffer.from("hello"));
    expect(answer.toString()).toBe("hello");
  });

  test("an upgrade to h2c is ignored: the request, body included, is served over HTTP/1.1", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    peer.socket.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n${h2cUpgrade}\r\nabc`);
    await peer.received("POST / over 1.1: 3 bytes");
    expect(peer.text()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("data after an ignored upgrade is not read: the connection closes after the answer", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    peer.socket.write(
      `GET /first HTTP/1.1\r\nHost: test\r\n${h2cUpgrade}\r\nGET /second HTTP/1.1\r\nHost: test\r\n\r\n`,
    );
    await peer.closed;
    expect(peer.text()).toMatch(/Connection: close.*GET \/first over 1.1/is);
  });

  test("a body of 100 KB waits for 100 Continue", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    peer.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 102400\r\nExpect: 100-continue\r\n\r\n");
    await peer.received("HTTP/1.1 100 Continue\r\n\r\n");
    peer.socket.write(Buffer.alloc(102_400));
    await peer.received("POST / over 1.1: 102400 bytes");
  });

  test("a kept-alive connection serves again", async () => {
    const port = await openPort({
      transport,
      handler: (request, response) => response.end(String(request.socket.remotePort)),
    });
    const agent = createAgent(port);
    const first = await get(port, { agent });
    expect((await get(port, { agent })).body).toBe(first.body);
  });

  test("pipelined HTTP/1.1 that arrives byte by byte is answered in order", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    const post = "POST /one HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc";
    await writeByBytes(peer.socket, Buffer.from(`${post}GET /two HTTP/1.1\r\nHost: test\r\n\r\n`));
    await peer.received("GET /two over 1.1: 0 bytes");
    expect(peer.text()).toMatch(/POST \/one over 1.1: 3 bytes.*GET \/two/s);
  });

  test("HTTP/2 that arrives byte by byte is served", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port, { alpn: "h2" });
    const session = connect2(port, { createConnection: () => trickle(peer.socket) });
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test.each(["PROPFIND", "PUT", "PATCH", "POST"])("%s is not mistaken for the preface", async (method) => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    await writeByBytes(peer.socket, Buffer.from(`${method} / HTTP/1.1\r\nHost: test\r\n\r\n`));
    await peer.received(`${method} / over 1.1`);
  });
});

describe.each(transports)("a port of one protocol over %s", (transport) => {
  test("a port for HTTP/1.1 serves it, and refuses the h2 preface", async () => {
    const port = await openPort({ transport, protocols: "h1" });
    expect((await get(port)).body).toBe("GET / over 1.1: 0 bytes");
    const peer = await connectRaw(port);
    peer.socket.write(hello);
    await peer.closed;
    expect(peer.text()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("a port for HTTP/2 serves it, and tells an HTTP/1.1 client why it is refused", async () => {
    const port = await openPort({ transport, protocols: "h2" });
    expect(await request2(connect2(port))).toBe("GET / over 2.0: 0 bytes");
    const refused = await get(port, { ALPNProtocols: [] });
    expect(refused).toMatchObject({ status: 505, headers: { connection: "close" } });
    expect(refused.body).toContain("This port speaks HTTP/2 only");
  });

  test("the refusal arrives while the client is still sending, and closes the connection", async () => {
    const port = await openPort({ transport, protocols: "h2" });
    const peer = await connectRaw(port);
    peer.socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10000000\r\n\r\n");
    peer.socket.write(Buffer.alloc(1_000_000));
    await peer.received("This port speaks HTTP/2 only");
    peer.socket.end();
    await peer.closed;
    // Only the port is left.
    await waitForTcpHandles(1);
  });
});

describe("a port that cannot be opened", () => {
  test("a busy port gives an error with the port and what to do", async () => {
    const { address } = await openPort({ transport: "cleartext" });
    const refused = await listenOnePort({ ...address, handler: describeRequest }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ reason: "CONFIG_INVALID" });
    expect((refused as Fault).message).toContain(`port ${address.port} on 127.0.0.1 is already in use`);
    expect((refused as Fault).message).toContain("RUNNEL_SERVER_PORT");
  });

  test("an address of another machine gives an error with what to do", async () => {
    const refused = listenOnePort({ host: "192.0.2.1", port: 0, handler: describeRequest });
    await expect(refused).rejects.toThrow("set RUNNEL_SERVER_HOST");
  });
});
