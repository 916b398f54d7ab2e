// Requests that are no message of their type, over every protocol and of unary calls and streams: the caller made them, so the
// answer is INVALID_ARGUMENT and says so, and the log of the service has no error of its own.

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { callRaw, frame } from "./grpc-frames.ts";

interface End {
  readonly code: string | number | undefined;
  readonly message: string;
}

const unary = "/runnel.v1.SessionService/CreateSession";
const streams = ["/runnel.v1.RunService/TailRun", "/runnel.v1.RunService/WatchRuns", "/grpc.health.v1.Health/Watch"];
const enveloped = ["application/grpc", "application/grpc+proto", "application/grpc-web+proto"];
/** Field 1, a string of ten bytes, of which one is there. */
const truncated = Buffer.from([0x0a, 0x0a, 0x61]);
const garbage = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const zipped = gzipSync(Buffer.alloc(1_000, "a"));

const noMessage = /^the body is not a valid [\w.]+Request message: ./;
const noGzip = /^the body is not valid gzip data: /;

const badEnvelopes = [
  { what: "a truncated message", body: frame(truncated), words: noMessage },
  { what: "garbage", body: frame(garbage), words: noMessage },
  { what: "a text that is not UTF-8", body: frame(Buffer.from([0x0a, 0x01, 0xff])), words: noMessage },
  { what: "an envelope that claims more", body: frame(truncated, { claimedBytes: 9 }), words: /incomplete envelope/ },
  { what: "half a prefix", body: Buffer.alloc(3), words: /incomplete envelope/ },
  {
    what: "the flag of an end",
    body: frame(Buffer.alloc(0), { flag: 2 }),
    words: /^the body is not a valid envelope: /,
  },
  { what: "the flag of trailers", body: frame(truncated, { flag: 128 }), words: /its first byte is 128, / },
  { what: "compression without its name", body: frame(zipped, { flag: 1 }), words: noMessage },
  { what: "compressed garbage", body: frame(garbage, { flag: 1 }), coding: "gzip", words: noGzip },
  { what: "half of a gzip", body: frame(zipped.subarray(0, 12), { flag: 1 }), coding: "gzip", words: noGzip },
  { what: "a gzip of garbage", body: frame(gzipSync(garbage), { flag: 1 }), coding: "gzip", words: noMessage },
  {
    what: "half of a brotli",
    body: frame(Buffer.from([0x1b]), { flag: 1 }),
    coding: "br",
    words: /^the body is not valid br data: /,
  },
];

async function callEnveloped(url: string, path: string, type: string, body: Buffer, coding?: string): Promise<End> {
  if (type.startsWith("application/grpc") && !type.startsWith("application/grpc-web")) {
    const headers = { "content-type": type, ...(coding !== undefined && { "grpc-encoding": coding }) };
    const { grpcStatus, message } = await callRaw(url, path, body, headers);
    return { code: grpcStatus === 3 ? "invalid_argument" : grpcStatus, message };
  }
  const isWeb = type.startsWith("application/grpc-web");
  const encoding = isWeb ? "grpc-encoding" : "connect-content-encoding";
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": type, ...(coding !== undefined && { [encoding]: coding }) },
    body,
  });
  expect(response.status).toBe(200);
  const answer = Buffer.from(await response.arrayBuffer());
  const last = answer.subarray(5, 5 + answer.readUInt32BE(1)).toString();
  if (!isWeb) {
    return (JSON.parse(last) as { error: End }).error;
  }
  const trailers = new Headers(last.split("\r\n").flatMap((line) => (line === "" ? [] : [splitTrailer(line)])));
  return {
    code: trailers.get("grpc-status") === "3" ? "invalid_argument" : (trailers.get("grpc-status") ?? undefined),
    message: decodeURIComponent(trailers.get("grpc-message") ?? ""),
  };
}

function splitTrailer(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at), line.slice(at + 1).trim()];
}

async function expectRefused(url: string): Promise<void> {
  for (const { what, body, coding, words } of badEnvelopes) {
    for (const path of [unary, ...streams]) {
      for (const type of [...enveloped, ...(path === unary ? [] : ["application/connect+proto"])]) {
        const label = `${what} as ${type} to ${path}`;
        const { code, message } = await callEnveloped(url, path, type, body, coding);
        expect.soft({ label, code, message }).toEqual({
          label,
          code: "invalid_argument",
          message: expect.stringMatching(words),
        });
      }
    }
  }
}

test("an invalid message or envelope over gRPC, gRPC-Web and Connect is the caller's error, and is not logged as ours", async () => {
  const service = await startProcess({ RUNNEL_DATABASE_URL: await testDatabase() });
  await expectRefused(service.url);
  expect(service.log()).not.toMatch(/request\.failed|"level":"error"/);
});

test("the same where each stream is served by its handler", async () => {
  const { url } = await startService({}, { plainStreams: true });
  await expectRefused(url);
});

test("a unary call of Connect answers 400 with the reason, also with its message in the URL", async () => {
  const { url } = await startService();
  const read = async (response: Response): Promise<unknown> => {
    const { code, message, details } = (await response.json()) as End & { details?: { type: string }[] };
    return [response.status, code, message, (details ?? []).map(({ type }) => type)];
  };
  const send = async (body: Buffer | string, headers: Record<string, string>): Promise<unknown> =>
    await read(await fetch(`${url}${unary}`, { method: "POST", headers: { ...credentialsOf(), ...headers }, body }));
  const refusal = (words: RegExp) => [400, "invalid_argument", expect.stringMatching(words), ["google.rpc.ErrorInfo"]];
  const proto = { "content-type": "application/proto" };
  const json = { "content-type": "application/json" };
  expect(await send(truncated, proto)).toEqual(refusal(noMessage));
  expect(await send(garbage, proto)).toEqual(refusal(noMessage));
  expect(await send(garbage, { ...proto, "content-encoding": "gzip" })).toEqual(refusal(noGzip));
  expect(await send(zipped.subarray(0, 12), { ...json, "content-encoding": "gzip" })).toEqual(refusal(noGzip));
  for (const text of ["{", "[]", '{"agent":7}', ""]) {
    expect(await send(text, json)).toEqual([400, "invalid_argument", expect.stringMatching(/^cannot decode /), []]);
  }
  const get = async (message: string): Promise<unknown> => {
    const query = `connect=v1&encoding=proto&base64=1&message=${message}`;
    const path = "/runnel.v1.SessionService/GetSession";
    return await read(await fetch(`${url}${path}?${query}`, { headers: credentialsOf() }));
  };
  expect(await get("%25%25%25")).toEqual(refusal(noMessage));
  expect(await get("_____w")).toEqual(refusal(noMessage));
});

test("credentials come first: an unreadable request without them is unauthenticated", async () => {
  const { url } = await startService();
  const response = await fetch(`${url}${unary}`, {
    method: "POST",
    headers: { "content-type": "application/proto" },
    body: garbage,
  });
  expect(response.status).toBe(401);
});
