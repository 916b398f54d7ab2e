// Requests that are too large: by their claimed length, by never ending, by their unpacked size, and by their heads.

import http2, { type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { expect, onTestFinished } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { peakResidentBytes, residentBytes } from "../../fault/resource-probe.ts";
import { credentialsOf } from "../../harness/credentials.ts";
import { until } from "../../harness/wait.ts";
import { type AttackedService, test } from "./attacked-service.ts";
import { frame, grpcHead, type Head } from "./grpc-call.ts";
import { connectPeers, statusesOf } from "./raw-peers.ts";

const atOnce = 50;
const sizeTimeoutMs = 120_000;
const mib = 1_048_576;
/** The service holds at most 64 MiB of large bodies of unknown senders at the same time, and as much of known ones. */
const grownBytesMax = 400 * mib;
const create = SessionService.method.createSession;

test("messages that declare more than 4 MiB are refused after their first bytes", {
  timeout: sizeTimeoutMs,
}, async ({ attacked }) => {
  const claim = frame(Buffer.alloc(1_000), { claimedBytes: 1_024 * mib });
  const ends = await callAll(attacked, grpcHead(create), (stream) => stream.write(claim));
  expect(ends).toEqual(ends.map(() => String(status.RESOURCE_EXHAUSTED)));
  await attacked.expectUnharmed();
});

test("a compressed bomb of zeros is refused by its unpacked size, even when many come at once", {
  timeout: sizeTimeoutMs,
}, async ({ attacked }) => {
  const before = residentBytes(attacked.member.pid);
  const bomb = frame(gzipSync(Buffer.alloc(256 * mib)), { flag: 1 });
  const head = { ...grpcHead(create), "grpc-encoding": "gzip" };
  const ends = await callAll(attacked, head, (stream) => stream.end(bomb));
  expect(ends).toEqual(ends.map(() => String(status.RESOURCE_EXHAUSTED)));
  const zipped = gzipSync(Buffer.alloc(256 * mib, " "));
  const response = await fetch(`${attacked.member.url}/${create.parent.typeName}/${create.name}`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json", "content-encoding": "gzip" },
    body: zipped,
  });
  expect(await response.json()).toMatchObject({ code: "resource_exhausted" });
  expect(peakResidentBytes(attacked.member.pid) - before).toBeLessThan(grownBytesMax);
  await attacked.expectUnharmed();
});

// With credentials and without: the service reads no body without end, and keeps nothing of it.
test("endless bodies are refused, and their connections closed", { timeout: sizeTimeoutMs }, async ({ attacked }) => {
  const before = residentBytes(attacked.member.pid);
  const { authorization } = credentialsOf();
  const head = (auth: string): string =>
    `POST /v1/sessions HTTP/1.1\r\nHost: a\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const known = connectPeers(attacked, 10, head(`Authorization: ${authorization}\r\n`));
  const unknown = connectPeers(attacked, 10, head(""));
  const signed = connectPeers(attacked, 10, head(signatureHeaders));
  const all = [known, unknown, signed];
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "x"), Buffer.from("\r\n")]);
  await until(
    "all of them to be closed",
    () => {
      for (const peers of all) {
        peers.write(() => chunk);
      }
      return all.every((peers) => peers.countOpen() === 0);
    },
    60_000,
  );
  const [ofKnown, ofUnknown, ofSigned] = all.map(statusesOf);
  expect(ofUnknown).toEqual(["401"]);
  // All of these together are more than the service may hold of bodies.
  for (const statuses of [ofKnown, ofSigned]) {
    expect(statuses?.every((each) => each === "413" || each === "503")).toBe(true);
  }
  expect(peakResidentBytes(attacked.member.pid) - before).toBeLessThan(grownBytesMax);
  await attacked.expectUnharmed();
});

/** Headers of a signed request: the service needs the whole body before it knows the sender. */
const signatureHeaders = [
  "X-Client-ID: local",
  `X-Timestamp: ${Math.floor(Date.now() / 1_000)}`,
  "X-Nonce: 00112233445566778899aabbccddeeff",
  `X-Signature: sha256=${"0".repeat(64)}`,
  "",
].join("\r\n");

/** Unsent data of a client counts: with Node's 10 MiB the client would itself reset streams that are answered early. */
const clientMemoryMiB = 256;

/** Makes the call `atOnce` times over one connection. Returns the gRPC status of each, or how its stream was reset. */
async function callAll(
  attacked: AttackedService,
  head: Head,
  send: (stream: ClientHttp2Stream) => void,
): Promise<string[]> {
  const session = http2.connect(attacked.member.url, { maxSessionMemory: clientMemoryMiB });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  const ends = await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const stream = session.request(head);
      let end = "";
      const note = (headers: IncomingHttpHeaders): void => {
        end ||= String(headers["grpc-status"] ?? "");
      };
      stream.on("response", note).on("trailers", note);
      stream.on("error", () => {}).resume();
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      stream.on("close", resolve);
      send(stream);
      await closed;
      return end || `reset by ${stream.rstCode}`;
    }),
  );
  session.destroy();
  return ends;
}
