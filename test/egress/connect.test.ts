// An outgoing connection for HTTP/2: the same guard as for a POST.

import { once } from "node:events";
import { connect, createSecureServer } from "node:http2";
import { expect, test } from "vitest";
import type { Egress } from "../../src/platform/egress/post.ts";
import { type Certificates, makeCertificates } from "../harness/certificates.ts";
import { listenLocally } from "../harness/listen.ts";
import { createInternet, listen, listenRaw, openEgress } from "./internet.ts";

const answers = { "runner.example": ["203.0.114.10"] };

function open(egress: Egress, url: string, signal = new AbortController().signal) {
  return egress.connect({ url, what: "runner", timeoutMs: 20_000, signal });
}

async function listenHttp2({ server }: Certificates): Promise<number> {
  const http2 = createSecureServer(server, (_, response) => response.end("spoken"));
  return await listenLocally(http2);
}

test("HTTP/2 uses the host's name at the address that was checked", async () => {
  const certificates = await makeCertificates(["runner.example"]);
  const internet = createInternet(answers, { http: 0, https: await listenHttp2(certificates) });
  const socket = await open(openEgress({ ...internet.options, ca: certificates.ca }), "https://runner.example/");
  const session = connect("https://runner.example", { createConnection: () => socket });
  const stream = session.request({ ":path": "/" }).setEncoding("utf8");
  expect((await stream.toArray()).join("")).toBe("spoken");
  session.close();
  expect(internet.dials).toEqual(["203.0.114.10:443"]);
});

test("a host whose TLS speaks only HTTP/1.1 is refused", async () => {
  const { ca, server } = await makeCertificates(["runner.example"]);
  const internet = createInternet(answers, { http: 0, https: await listen((_, response) => response.end(), server) });
  const egress = openEgress({ ...internet.options, ca });
  await expect(open(egress, "https://runner.example/")).rejects.toMatchObject({ isRetryable: false });
});

test("a private address is refused, given directly or through a name", async () => {
  const internet = createInternet(
    { "inside.example": ["203.0.114.10", "10.0.0.8"], "turned.example": { seq: [["203.0.114.10"], ["10.0.0.8"]] } },
    { http: await listenRaw(() => {}) },
  );
  const egress = openEgress(internet.options);
  await expect(open(egress, "http://10.0.0.8:9000/")).rejects.toThrow("private IP runners are not allowed");
  await expect(open(egress, "http://localhost:9000/")).rejects.toThrow("localhost runners are not allowed");
  await expect(open(egress, "http://inside.example:9000/")).rejects.toThrow("private IP 10.0.0.8 is blocked");
  expect(internet.dials).toEqual([]);
  // The address that was checked is the one that is dialled; the next lookup finds the private address.
  (await open(egress, "http://turned.example:9000/")).destroy();
  await expect(open(egress, "http://turned.example:9000/")).rejects.toThrow("private IP 10.0.0.8 is blocked");
  expect(internet.dials).toEqual(["203.0.114.10:9000"]);
});

test("an abort ends an attempt to connect, and leaves an open connection alone", async () => {
  const egress = openEgress({ allowsPrivate: true });
  const port = await listenRaw((socket) => socket.write("x"));
  const stop = new AbortController();
  const socket = await open(egress, `http://127.0.0.1:${port}/`, stop.signal);
  stop.abort(new Error("enough"));
  expect(await once(socket, "data")).toHaveLength(1);
  socket.destroy();
  await expect(open(egress, `http://127.0.0.1:${port}/`, stop.signal)).rejects.toThrow("enough");
});
