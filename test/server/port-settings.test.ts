// The settings of the port: operators set the maximum number of connections and streams, the maximum body, and the timeouts.

import { once } from "node:events";
import http2 from "node:http2";
import { connect } from "node:net";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";
import { connect as connectStore } from "../runlog/store.ts";

test("a connection gets the configured maximum of streams", async () => {
  const { url } = await startService({ serverStreamsPerConnectionMax: 250 });
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  await once(session, "remoteSettings");
  expect(session.remoteSettings.maxConcurrentStreams).toBe(250);
});

test.each([
  ["all together", { serverConnectionsMax: 2 }],
  ["one address", { serverConnectionsPerAddressMax: 2 }],
])("%s can open the configured number of connections, and one more is closed at once", async (_, flags) => {
  const { url } = await startService(flags);
  const { hostname, port } = new URL(url);
  const open = async () => {
    const socket = connect(Number(port), hostname).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const kept = [await open(), await open()];
  const tooMany = await open();
  await once(tooMany, "close");
  expect(kept.map(({ closed }) => closed)).toEqual([false, false]);
});

test("a body may have the configured size, and not one byte more", async () => {
  const { url } = await startService({ serverMaxBodyBytes: 2_048 });
  const post = async (length: number) => {
    const body = JSON.stringify({ agent: { name: "a" } }).padEnd(length, " ");
    const response = await fetch(`${url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body });
    return [response.status, await response.json()];
  };
  expect(await post(2_048)).toEqual([201, expect.anything()]);
  expect(await post(2_049)).toEqual([413, { error: "the request body is larger than 2048 bytes" }]);
});

const head = "POST /v1/sessions HTTP/1.1\r\nhost: a\r\n";
const { authorization } = credentialsOf();

test.each([
  ["head", { serverReadHeaderTimeoutSec: 1 }, head],
  ["body", { serverReadTimeoutSec: 1 }, `${head}authorization: ${authorization}\r\ncontent-length: 9\r\n\r\n{`],
])("a %s that does not arrive within its configured timeout gets 408", async (_, flags, request) => {
  expect(await hearAll(await startService(flags), request)).toMatch(/^HTTP\/1\.1 408 /);
});

test("an idle connection is closed after the configured timeout", async () => {
  const service = await startService({ serverIdleTimeoutSec: 1 });
  expect(await hearAll(service, "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test("a request that is not answered within the configured timeout loses its connection, and a stream does not", async () => {
  // Long enough for the other requests on a busy machine, and shorter than the service waits for a lock: 5 s.
  const service = await startService({ serverWriteTimeoutSec: 3 });
  const url = `${service.url}/v1/sessions`;
  const headers = credentialsOf();
  await fetch(url, { method: "POST", headers, body: '{"session_id":"s","agent":{"name":"a"}}' });
  const stream = await fetch(`${url}/s/stream`, { headers });
  const { db } = connectStore(service.databaseUrl);
  await db.transaction().execute(async (trx) => {
    await sql`lock table session in access exclusive mode`.execute(trx);
    await expect(fetch(`${url}/s`, { headers })).rejects.toThrow("fetch failed");
  });
  await fetch(`${url}/s`, { method: "DELETE", headers });
  expect(await stream.text()).toContain("event: done\n");
});

/** Returns everything that the service sends in answer, until it closes the connection. */
async function hearAll({ url }: TestService, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(request);
  return (await socket.setEncoding("utf8").toArray()).join("");
}
