// Every surface with curl alone: REST, SSE, Connect, gRPC-Web and gRPC, over HTTP/1.1, HTTP/2 and TLS, with keys and with
// signatures that a shell makes.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createParser } from "eventsource-parser";
import { describe, expect, test } from "vitest";
import { GetRunRequestSchema, GetRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { frame } from "../conformance/grpc-frames.ts";
import { plain } from "../conformance/plain.ts";
import { readSession, setStage, startConversation } from "../conformance/stage.ts";
import type { Plain } from "../conformance/surface.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { answer } from "../fakes/provider.ts";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";
import { asClient, curl, startCurl } from "./curl.ts";
import { runProgram } from "./program.ts";
import { startTlsService } from "./tls-service.ts";

const rest = findSurface("REST");
const asJson = ["--header", "content-type: application/json"];

test("REST: a session is created, used and deleted", async () => {
  const { service, provider, api } = await setStage(rest);
  provider.respond(answer("hello, shell"));
  const sessions = `${service.url}/v1/sessions`;
  const created = await curl([...asClient(), ...asJson, "--data", '{"session_id":"s","agent":{"name":"a"}}', sessions]);
  expect([created.status, created.body.toString()]).toEqual([201, '{"session_id":"s","status":"created"}\n']);
  const sent = await curl([...asClient(), "--data", '{"message":"hi"}', `${sessions}/s/messages`]);
  expect(sent.status).toBe(202);
  await readSession(api, "s");
  const shown = await curl([...asClient(), `${sessions}/s`]);
  expect(JSON.parse(shown.body.toString())).toMatchObject({ status: "completed", output: "hello, shell" });
  const deleted = await curl([...asClient(), "--request", "DELETE", `${sessions}/s`]);
  expect([deleted.status, deleted.body.toString()]).toEqual([200, '{"status":"deleted"}\n']);
  expect(await curl([...asClient(), `${sessions}/s`])).toMatchObject({ status: 404 });
  expect(await curl([`${sessions}/s`])).toMatchObject({ status: 401 });
});

test("REST: a large body is announced before it is sent", async () => {
  const { service } = await setStage(rest);
  const body = JSON.stringify({ agent: { name: "a", system_prompt: "x".repeat(900_000) } });
  const args = [...asClient(), "--header", "expect: 100-continue", "--data-binary", "@-", `${service.url}/v1/sessions`];
  const { status, head } = await curl(args, body);
  expect(status).toBe(201);
  expect(head).toMatch(/^HTTP\/1\.1 100 Continue/);
});

describe("SSE", () => {
  test.each(["--http1.1", "--http2-prior-knowledge"])("is printed as it happens with %s, and ends", async (version) => {
    const { service, provider, api } = await setStage(rest);
    const going = Promise.withResolvers<void>();
    provider.respond(async (wire) => {
      wire.text("first words");
      await going.promise;
      wire.text(", last words");
      wire.done("stop");
    });
    const { sessionId, runId } = await startConversation(api);
    const session = startCurl([...asClient(), version, `${service.url}/v1/sessions/${sessionId}/stream`]);
    const run = startCurl([...asClient(), version, `${service.url}/v1/runs/${runId}/results:tail`]);
    await until("the first words", () => [session, run].every(({ stdout }) => stdout().includes("first words")));
    going.resolve();
    const [told, log] = await Promise.all([session.finished, run.finished]);
    expect([told.exitCode, log.exitCode]).toEqual([0, 0]);
    expect(eventsIn(told.stdout).map(({ event }) => event)).toEqual(["text", "text", "done"]);
    const results = await Array.fromAsync(api.followRun(runId));
    expect(eventsIn(log.stdout)).toMatchObject([
      ...results.map(({ type, sequence }) => ({ event: type, id: String(sequence) })),
      { event: "end" },
    ]);
  });

  test("resumes after the last event, and says when nothing follows", async () => {
    const { service, provider, api } = await setStage(rest);
    provider.respond(answer("all"));
    const { sessionId, runId } = await startConversation(api);
    const events = await readSession(api, sessionId);
    const tail = `${service.url}/v1/runs/${runId}/results:tail`;
    const results = await Array.fromAsync(api.followRun(runId));
    const later = await curl([...asClient(), "--header", "last-event-id: 2", tail]);
    expect(eventsIn(later.body).map(({ id }) => id)).toEqual([
      ...results.slice(2).map((each) => String(each.sequence)),
      "",
    ]);
    expect((await curl([...asClient(), `${tail}?after=${results.length}`])).status).toBe(204);
    const stream = `${service.url}/v1/sessions/${sessionId}/stream`;
    expect((await curl([...asClient(), "--header", `last-event-id: ${events.at(-1)?.id}`, stream])).status).toBe(204);
  });
});

describe("RPCs", () => {
  const versions = [
    { args: ["--http1.1"], httpVersion: "1.1" },
    { args: ["--http2-prior-knowledge"], httpVersion: "2" },
    // The upgrade to HTTP/2 is offered and ignored.
    { args: ["--http2"], httpVersion: "1.1" },
  ];

  test.each(versions)("Connect, gRPC-Web and REST return the same with curl $args.0", async ({ args, httpVersion }) => {
    const { service, provider, api } = await setStage(rest);
    provider.respond(answer("done"));
    const { sessionId, runId } = await startConversation(api);
    await readSession(api, sessionId);
    const run = await api.getRun(runId);
    const path = `${service.url}/runnel.v1.RunService/GetRun`;
    const json = JSON.stringify({ runId });

    const byJson = await curl([...asClient(), ...args, ...asJson, "--data", json, path]);
    expect(byJson).toMatchObject({ status: 200, httpVersion });
    expect(JSON.parse(byJson.body.toString()).run).toMatchObject({ runId, state: "STATE_COMPLETED" });

    const query = ["--get", "--data-urlencode", `message=${json}`, "--data", "encoding=json&connect=v1"];
    const byGet = await curl([...asClient(), ...args, ...query, path]);
    expect(byGet.body.toString()).toBe(byJson.body.toString());

    const message = toBinary(GetRunRequestSchema, create(GetRunRequestSchema, { runId }));
    const asProto = ["--header", "content-type: application/proto", "--data-binary", "@-"];
    const byProto = await curl([...asClient(), ...args, ...asProto, path], message);
    expect(runIn(byProto.body)).toEqual(run);

    const asWeb = ["--header", "content-type: application/grpc-web+proto", "--data-binary", "@-"];
    const byWeb = await curl([...asClient(), ...args, ...asWeb, path], frame(message));
    const [answered, trailers] = framesIn(byWeb.body);
    expect(runIn(answered?.data ?? Buffer.alloc(0))).toEqual(run);
    expect([trailers?.flag, trailers?.data.toString()]).toEqual([0x80, expect.stringMatching(/grpc-status: 0\r\n/)]);
  });

  test("gRPC answers with its status in the trailers", async () => {
    const { service, api } = await setStage(rest);
    const { runId } = await startConversation(api);
    const path = `${service.url}/runnel.v1.RunService/GetRun`;
    const asGrpc = ["--header", "content-type: application/grpc", "--header", "te: trailers", "--data-binary", "@-"];
    const ask = (request: string) =>
      curl(
        [...asClient(), "--http2-prior-knowledge", ...asGrpc, path],
        frame(toBinary(GetRunRequestSchema, create(GetRunRequestSchema, { runId: request }))),
      );
    const found = await ask(runId);
    expect(found.head).toMatch(/^HTTP\/2 200 .*\r\ngrpc-status: 0\r\n/s);
    expect(framesIn(found.body)).toHaveLength(1);
    const unknown = await ask("01900000-0000-7000-8000-000000000000");
    expect(unknown.head).toMatch(/^HTTP\/2 200 .*\r\ngrpc-status: 5\r\n/s);
    expect(unknown.head).toContain("grpc-message: run%20not%20found");
  });
});

describe.each(["v1", "v2"])("a shell signs by %s", (scheme) => {
  test("to create a session, to read it and to follow its run", async () => {
    const { service } = await setStage(rest, { defaultModel: "demo" });
    const call = (method: string, target: string, body = "", secret = keyOf()) =>
      runSigned({ SCHEME: scheme, SECRET: secret, METHOD: method, TARGET: target, BODY: body, BASE: service.url });
    expect(await call("POST", "/v1/sessions", '{"session_id":"s","agent":{"name":"ä"}}')).toBe(
      '{"session_id":"s","status":"created"}\n201',
    );
    expect(await call("POST", "/v1/sessions/s/messages", '{"message":"words=2 pace=0"}')).toMatch(/\n202$/);
    expect(await call("GET", "/v1/sessions/s/stream")).toMatch(/\nevent: done\ndata: .*"completed".*\n\n200$/);
    expect(await call("GET", "/v1/runs?page_size=1")).toMatch(/"session_id":"s".*\n200$/);
    expect(await call("GET", "/v1/sessions/s", "", keyOf("stranger"))).toBe('{"error":"invalid signature"}\n401');
  });
});

test("TLS: HTTP/2 is negotiated, HTTP/1.1 is available, and plain text is refused", async () => {
  const { url, caFile } = await startTlsService();
  for (const [version, httpVersion] of [
    ["--http2", "2"],
    ["--http1.1", "1.1"],
  ] as const) {
    const answered = await curl([...asClient(), "--cacert", caFile, version, `${url}/v1/sessions`]);
    expect([answered.status, answered.httpVersion]).toEqual([200, httpVersion]);
  }
  const clear = startCurl([...asClient(), `${url.replace("https", "http")}/v1/sessions`]);
  expect((await clear.finished).exitCode).not.toBe(0);
});

test("a shell signs as the page on authentication prints it", async () => {
  const { service } = await setStage(rest);
  const page = await readFile(new URL("../../docs/authentication.md", import.meta.url), "utf8");
  const [block = ""] = /^signed\(\) \{[\s\S]*?(?=^```$)/m.exec(page) ?? [];
  const environment = { BASE: service.url, CLIENT: defaultClientId, SECRET: keyOf() };
  const line = `${block}\nsigned GET '/v1/sessions?page_size=1'`;
  const { stdout } = await runProgram("sh", ["-euc", line], { environment });
  expect(stdout.toString()).toMatch(/^\{"session_id":"(.*)","status":"created"\}\n\{"sessions":\[\{"session_id":"\1"/);
});

async function runSigned(environment: Readonly<Record<string, string>>): Promise<string> {
  const script = fileURLToPath(new URL("signed-call.sh", import.meta.url));
  const { stdout } = await runProgram("bash", [script], { environment: { CLIENT: defaultClientId, ...environment } });
  return stdout.toString();
}

interface Event {
  readonly id: string;
  readonly event: string;
}

/** The events that an SSE stream printed, without comments. */
function eventsIn(stdout: Buffer): Event[] {
  const events: Event[] = [];
  const parser = createParser({ onEvent: ({ id = "", event = "" }) => events.push({ id, event }) });
  parser.feed(stdout.toString());
  return events;
}

interface Frame {
  readonly flag: number;
  readonly data: Buffer;
}

function framesIn(body: Buffer): Frame[] {
  if (body.length === 0) {
    return [];
  }
  const end = 5 + body.readUInt32BE(1);
  return [{ flag: body[0] ?? 0, data: body.subarray(5, end) }, ...framesIn(body.subarray(end))];
}

function runIn(message: Uint8Array): Plain | undefined {
  return plain<{ run?: Plain }>(GetRunResponseSchema, fromBinary(GetRunResponseSchema, message)).run;
}
