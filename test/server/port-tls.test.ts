// What only a port with TLS has: ALPN, certificates of both sides, and peers that fail the handshake. What it shares with a
// port in the clear is in the other files, which try both. O2 and O3 are in src/surfaces/http/one-port.ts.

import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import tls from "node:tls";
import { status } from "@grpc/grpc-js";
import { generate } from "selfsigned";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";
import {
  listenOnePort,
  type OnePortHandler,
  type OnePortTls,
  onePortLimits,
} from "../../src/surfaces/http/one-port.ts";
import type { KeyPair } from "../harness/certificates.ts";
import { callGrpc } from "./grpc-peer.ts";
import { hello, request } from "./h2-frames.ts";
import {
  certificates,
  closeAllAfterEach,
  connect2,
  connectPlain,
  connectRaw,
  describeRequest,
  destroyAfterTest,
  get,
  openPort,
  openPortWithClock,
  request2,
  sweep,
  type TestPort,
  trickle,
  waitForTcpHandles,
} from "./port-stage.ts";

const { ca, server, client, strangerClient } = certificates;
const { checkIntervalMs, prefaceTimeoutMs } = onePortLimits;
const transport = "TLS";
const weakPair = await makeWeakPair();

closeAllAfterEach();

describe("the handshake", () => {
  test.each([
    { offered: ["h2", "http/1.1"], protocols: "both", chosen: "h2" },
    { offered: ["http/1.1", "h2"], protocols: "both", chosen: "h2" },
    { offered: ["http/1.1"], protocols: "both", chosen: "http/1.1" },
    { offered: [], protocols: "both", chosen: false },
    { offered: ["h2", "http/1.1"], protocols: "h1", chosen: "http/1.1" },
    { offered: ["http/1.1", "h2"], protocols: "h2", chosen: "h2" },
  ] as const)("of $offered a port for $protocols chooses $chosen", async ({ offered, protocols, chosen }) => {
    const port = await openPort({ transport, protocols });
    const socket = openTls(port, { ALPNProtocols: [...offered] });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe(chosen);
  });

  test.each([
    { offered: "h2", protocols: "h1" },
    { offered: "http/1.1", protocols: "h2" },
    { offered: "spdy/3", protocols: "both" },
  ] as const)("a client with $offered alone is refused by a port for $protocols", async ({ offered, protocols }) => {
    const port = await openPort({ transport, protocols });
    const refused = once(openTls(port, { ALPNProtocols: [offered] }), "secureConnect");
    await expect(refused).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL" });
  });

  test("a client that speaks HTTP/2 without ALPN is refused", async () => {
    const port = await openPort({ transport });
    const peer = await connectRaw(port);
    peer.socket.write(hello);
    await peer.closed;
    expect(peer.text()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("TLS 1.2 is served, 1.1 is refused", async () => {
    const port = await openPort({ transport });
    const socket = openTls(port, { maxVersion: "TLSv1.2" });
    await once(socket, "secureConnect");
    expect(socket.getProtocol()).toBe("TLSv1.2");
    // Without these options the client would not even offer it.
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await expect(once(openTls(port, old), "secureConnect")).rejects.toMatchObject({
      code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    });
  });

  test("a handshake that arrives byte by byte is completed", async () => {
    const port = await openPort({ transport });
    const { socket } = await connectPlain(port);
    const session = connect2(port, {
      createConnection: () => tls.connect({ socket: trickle(socket), ca, ALPNProtocols: ["h2"] }),
    });
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });
});

describe("peers that do not complete the handshake", () => {
  test.each([
    ["says nothing", Buffer.alloc(0)],
    ["stops in the middle of it", Buffer.from("1603010200010001fc", "hex")],
  ])("O2: a peer that %s is closed by the preface timeout", async (_what, beginning) => {
    const { port, clock } = await openPortWithClock({ transport });
    const peer = await connectPlain(port);
    peer.socket.write(beginning);
    await get(port);
    await sweep(clock, prefaceTimeoutMs);
    await get(port);
    expect(peer.socket.closed).toBe(false);
    await sweep(clock, checkIntervalMs);
    await peer.closed;
  });

  test("O2: of several handshakes only the incomplete ones are closed, in any order", async () => {
    const { port, clock } = await openPortWithClock({ transport });
    const before = await connectPlain(port);
    const { socket } = await connectPlain(port);
    const after = await connectPlain(port);
    // An answered request shows that the port has accepted the connections before it.
    await get(port);
    const session = connect2(port, {
      createConnection: () => tls.connect({ socket, ca, ALPNProtocols: ["h2"] }),
    });
    await request2(session);
    await sweep(clock, prefaceTimeoutMs + checkIntervalMs);
    await Promise.all([before.closed, after.closed]);
    expect(await request2(session)).toBe("GET / over 2.0: 0 bytes");
  });

  test.each([
    ["HTTP/1.1 in the clear", Buffer.from("GET / HTTP/1.1\r\nHost: test\r\n\r\n")],
    ["HTTP/2 in the clear", hello],
    ["nonsense", Buffer.alloc(4096, "nonsense")],
  ])("O3: %s ends only its own connection, at once", async (_what, bytes) => {
    const port = await openPort({ transport });
    const bystander = connect2(port);
    await request2(bystander);
    const peer = await connectPlain(port);
    peer.socket.write(bytes);
    await peer.closed;
    expect(await request2(bystander)).toBe("GET / over 2.0: 0 bytes");
  });

  test("O3: 100 clients that leave during the handshake or right after it leave nothing behind", async () => {
    const port = await openPort({ transport });
    for (let index = 0; index < 100; index++) {
      const socket = openTls(port, { ALPNProtocols: ["h2"] });
      await once(socket, index % 2 === 0 ? "connect" : "secureConnect");
      socket.destroy();
    }
    expect((await get(port)).status).toBe(200);
    await waitForTcpHandles(1);
  });
});

describe("client certificates", () => {
  const secure = { transport, tls: { ...server, clientCa: ca } } as const;

  test("a client of the authority is served on both protocols, and by gRPC", async () => {
    const port = await openPort({ ...secure, handler: answerGrpc });
    expect((await get(port, client)).status).toBe(200);
    expect(await request2(connect2(port, client))).toBe("GET / over 2.0: 0 bytes");
    expect((await callGrpc(port, "/test.Echo/Echo", Buffer.from("hello"), { client })).toString()).toBe("hello");
  });

  test.each([
    ["without a certificate", undefined],
    ["with a certificate of another authority", strangerClient],
    ["with a certificate that the authority made for servers", server],
  ])("a client %s is refused", async (_what, pair) => {
    const requests: string[] = [];
    const port = await openPort({ ...secure, handler: (request) => requests.push(request.httpVersion) });
    await expect(get(port, pair ?? {})).rejects.toThrow();
    expect(await sendH2(port, pair ?? {})).toEqual([]);
    const call = callGrpc(port, "/test.Echo/Echo", Buffer.from("hello"), pair && { client: pair });
    await expect(call).rejects.toMatchObject({ code: status.UNAVAILABLE });
    expect(requests).toEqual([]);
  });
});

describe("certificates that cannot be used", () => {
  const otherKey = client.key;
  const passphrase = { cipher: "aes-256-cbc", passphrase: "secret", type: "pkcs8", format: "pem" } as const;
  const encryptedKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(passphrase).toString();
  const damagedCa = `${ca}\n${ca.replace(/[A-Za-z0-9+/]{40}/, "A".repeat(40))}`;

  test.each<[string, OnePortTls, RegExp]>([
    ["no certificate", { ...server, cert: "" }, /RUNNEL_TLS_CERT_FILE holds no certificate/],
    ["a key for a certificate", { ...server, cert: server.key }, /RUNNEL_TLS_CERT_FILE holds no certificate/],
    ["no key", { ...server, key: "nothing" }, /RUNNEL_TLS_KEY_FILE holds no private key/],
    ["a key with a passphrase", { ...server, key: encryptedKey }, /RUNNEL_TLS_KEY_FILE .*passphrase/],
    ["the key of another certificate", { ...server, key: otherKey }, /does not belong to .*made together/],
    ["no authority", { ...server, clientCa: "" }, /RUNNEL_TLS_CLIENT_CA_FILE holds no certificate/],
    ["a damaged authority", { ...server, clientCa: damagedCa }, /certificate 2 .*RUNNEL_TLS_CLIENT_CA_FILE/],
    ["a key that is too short", weakPair, /cannot be used .*2048 bits/],
  ])("%s gives CONFIG_INVALID with what to do and without a secret", async (_what, pems, message) => {
    const refused = await listenOnePort({ host: "127.0.0.1", port: 0, handler: describeRequest, tls: pems }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ reason: "CONFIG_INVALID", message: expect.stringMatching(message) });
    const [, secret = ""] = pems.key.split("\n");
    expect((refused as Fault).message).not.toContain(secret === "" ? pems.key : secret);
  });
});

function openTls(port: TestPort, options: tls.ConnectionOptions): tls.TLSSocket {
  const socket = tls.connect({ ...port.address, ca, ...options });
  // A test that waits for the connection to open still sees the error.
  socket.on("error", () => {});
  destroyAfterTest(socket);
  return socket;
}

/** Returns what comes back to an HTTP/2 request. Hand-written: Node's client keeps the socket of a session that was refused. */
async function sendH2(port: TestPort, pair: Partial<KeyPair>): Promise<Buffer[]> {
  const socket = openTls(port, { ALPNProtocols: ["h2"], ...pair });
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.write(Buffer.concat([hello, request(1, "GET")]));
  await closed;
  return received;
}

/** Echoes gRPC, and describes all other requests. */
function answerGrpc(...[request, response]: Parameters<OnePortHandler>): void {
  if (request.headers["content-type"]?.startsWith("application/grpc") && "stream" in response) {
    response.setHeader("content-type", "application/grpc+proto");
    response.addTrailers({ "grpc-status": "0" });
    request.pipe(response);
  } else {
    describeRequest(request, response);
  }
}

/** Makes a key that is shorter than OpenSSL accepts. */
async function makeWeakPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 512,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    algorithm: "sha256",
    keyPair: { privateKey, publicKey },
  });
  return { cert: made.cert, key: made.private };
}
