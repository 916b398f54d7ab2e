// A stream of google.api.HttpBody: its pieces are one body, which is either whole or breaks off.

import { connect as connectHttp2 } from "node:http2";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { Fault } from "../../src/platform/base/fault.ts";
import { startRestServer } from "./rest-server.ts";

type ReadFile = ServiceImpl<typeof FileService>["readFile"];

const path = "/v1/sessions/s/files/a.bin";
const piece = (bytes: number, contentType = "") => ({ piece: { contentType, data: new Uint8Array(bytes).fill(7) } });

async function download(readFile: ReadFile): Promise<Response> {
  await using server = await startRestServer({ files: { readFile } });
  const response = await fetch(`${server.url}${path}`);
  return new Response(response.status === 204 ? null : await response.arrayBuffer(), response);
}

test("the pieces follow each other, with the type of the first", async () => {
  const response = await download(async function* () {
    yield piece(100_000, "image/png");
    yield piece(1, "text/plain");
    yield piece(0);
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(response.headers.get("content-disposition")).toBe("attachment");
  expect((await response.arrayBuffer()).byteLength).toBe(100_001);
});

test("an empty piece without a type is an empty body of octets, and no piece is no content", async () => {
  const empty = await download(async function* () {
    yield piece(0);
  });
  expect([empty.status, empty.headers.get("content-type"), await empty.text()]).toEqual([
    200,
    "application/octet-stream",
    "",
  ]);
  expect((await download(async function* () {})).status).toBe(204);
});

test("a failure before the first piece is a whole answer", async () => {
  const response = await download(async function* () {
    yield await broken();
  });
  expect([response.status, response.headers.get("content-disposition")]).toEqual([500, null]);
});

const broken = (): Promise<never> => Promise.reject(new Fault("INTERNAL", "broken"));

test("a failure after a piece breaks the answer off, over HTTP/1.1 and HTTP/2", async () => {
  const readFile: ReadFile = async function* () {
    yield piece(10);
    yield await broken();
  };
  await expect(download(readFile)).rejects.toThrow();
  await using server = await startRestServer({ files: { readFile }, http2: true });
  const session = connectHttp2(server.url);
  const request = session.request({ ":path": path });
  await expect(Array.fromAsync(request)).rejects.toThrow();
  session.destroy();
});

test("a client that leaves ends the call", async () => {
  const left = Promise.withResolvers<void>();
  await using server = await startRestServer({
    files: {
      readFile: async function* (_request, { signal }: HandlerContext) {
        signal.addEventListener("abort", () => left.resolve(), { once: true });
        while (!signal.aborted) {
          yield piece(65_536);
        }
      },
    },
  });
  const leaving = new AbortController();
  const response = await fetch(`${server.url}${path}`, { signal: leaving.signal });
  expect(response.status).toBe(200);
  leaving.abort();
  await left.promise;
});
