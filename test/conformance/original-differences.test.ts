// Where clients of the Agent Runner document get another answer than from the document's own service, as the list of deviations
// says. Differences that concern one room are tested there.

import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { startService, type TestService } from "../harness/service.ts";
import { signV1 } from "../harness/signing.ts";

const secret = "the secret of all clients";

const start = (): Promise<TestService> => startService({ authApiKeys: [], authHmacSecret: secret });

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function ask(service: TestService, { method = "POST", path = "/v1/sessions", body = "", headers }: Call) {
  return await new Promise<Answer>((resolve, reject) => {
    const signed = { ...signV1({ secret, path, body, clientId: "app" }), ...headers };
    const sent = httpRequest(`${service.url}${path}`, { method, headers: signed }, (response) => {
      const { statusCode: status, headers: answered } = response;
      text(response).then((read) => resolve({ status, headers: answered, body: read }), reject);
    });
    sent.once("error", reject).end(body);
  });
}

const withAgent = (fields: object): string => JSON.stringify({ agent: { name: "a", ...fields } });
const withRemote = (...remote: readonly object[]): string => withAgent({ tools: { remote } });

test("a size or a count beyond its limit is refused with the field's name when the session is created", async () => {
  const service = await start();
  const tool = { name: "t" };
  const deep = `{"agent":{"name":"a"},"x":${"[".repeat(100)}${"]".repeat(100)}}`;
  const large = { type: "object", description: "x".repeat(262_144) };
  const cases: readonly (readonly [string, string])[] = [
    [withAgent({ name: "n".repeat(257) }), "invalid agent.name: must be at most 256 bytes"],
    [withAgent({ model: "m".repeat(257) }), "invalid agent.model: must be at most 256 bytes"],
    [withAgent({ system_prompt: "x".repeat(1_048_577) }), "invalid agent.system_prompt: must be at most 1048576 bytes"],
    [withAgent({ tools: { builtin: Array(65).fill("bash") } }), "must contain no more than 64 item(s)"],
    [withAgent({ tools: { builtin: ["b".repeat(129)] } }), "must be at most 128 bytes"],
    [withRemote(...Array(129).fill(tool)), "invalid agent.tools.remote: must contain no more than 128 item(s)"],
    [withRemote({ name: "t".repeat(129) }), "invalid agent.tools.remote[0].name: must be at most 128 bytes"],
    [withRemote({ ...tool, description: "x".repeat(65_537) }), "remote[0].description: must be at most 65536 bytes"],
    [withRemote({ ...tool, parameters: large }), "remote[0].parameters: must be at most 262144 bytes"],
    [
      JSON.stringify({ agent: { name: "a" }, work_dir: `/${"x".repeat(4_096)}` }),
      "work_dir: must be at most 4096 bytes",
    ],
    [deep, "invalid request body: nested deeper than 100 levels"],
  ];
  for (const [body, problem] of cases) {
    const { status, body: answered } = await ask(service, { body });
    expect.soft([status, answered], problem).toEqual([400, expect.stringContaining(problem)]);
  }
});

test("JSON may have all forms of protobuf's JSON", async () => {
  const service = await start();
  for (const body of [
    '{"agent":{"name":"a","max_turns":"3","temperature":"1"}}',
    '{"agent":{"name":"a","max_turns":1.0,"max_tokens":1e2}}',
    '{"agent":{"name":"a","systemPrompt":"x"}}',
  ]) {
    expect.soft((await ask(service, { body })).status, body).toBe(201);
  }
});

test("JSON may have no number beyond 32 bits and no null in a list, and the last of equal keys counts", async () => {
  const service = await start();
  const cases: readonly (readonly [string, string])[] = [
    [withAgent({ max_turns: 2_147_483_648 }), "agent.max_turns: expected a 32-bit integer, got 2147483648"],
    [withAgent({ tools: { builtin: [null] } }), "agent.tools.builtin[0]: expected a string, got null"],
    ['{"agent":{"name":"a"},"agent":{"model":"m"}}', "agent.name is required"],
  ];
  for (const [body, problem] of cases) {
    const { status, body: answered } = await ask(service, { body });
    expect.soft([status, answered]).toEqual([400, expect.stringContaining(problem)]);
  }
});

test("a timestamp is seconds in digits, without a sign or a leading zero", async () => {
  const service = await start();
  const seconds = Math.floor(Date.now() / 1_000);
  const cases: readonly (readonly [string, string])[] = [
    [`${Date.now()}`, "timestamp too old"],
    [`+${seconds}`, "invalid timestamp"],
    [`0${seconds}`, "invalid timestamp"],
    ["-1", "invalid timestamp"],
  ];
  for (const [timestamp, error] of cases) {
    const headers = signV1({ secret, path: "", body: "{}", timestamp: timestamp as unknown as number });
    const { status, body } = await ask(service, { body: "{}", headers });
    expect.soft([status, JSON.parse(body)], timestamp).toEqual([401, { error }]);
  }
});

test("a client's id has at most 256 characters", async () => {
  const { status, body } = await ask(await start(), { headers: { "x-client-id": "x".repeat(257) } });
  expect([status, JSON.parse(body)]).toEqual([401, { error: "invalid X-Client-ID: more than 256 characters" }]);
});

test("created_at has milliseconds", async () => {
  const service = await start();
  await ask(service, { body: '{"session_id":"s-1","agent":{"name":"a"}}' });
  const { body } = await ask(service, { method: "GET", path: "/v1/sessions/s-1" });
  expect(JSON.parse(body).created_at).toMatch(/:\d\d(\.\d{1,3})?Z$/);
});

test("a client may list its sessions, and OPTIONS lists the methods of a route", async () => {
  const service = await start();
  await ask(service, { body: '{"session_id":"s-1","agent":{"name":"a"}}' });
  const { status, body } = await ask(service, { method: "GET" });
  expect([status, JSON.parse(body)]).toMatchObject([200, { sessions: [{ session_id: "s-1" }] }]);
  expect(await ask(service, { method: "OPTIONS" })).toMatchObject({
    status: 204,
    headers: { allow: "POST, GET, OPTIONS" },
    body: "",
  });
  expect(await ask(service, { method: "PUT" })).toMatchObject({ status: 405, headers: { allow: "POST, GET" } });
  expect(await ask(service, { method: "PROPFIND", path: "/v1/nowhere" })).toMatchObject({ status: 404 });
});

test("HTTP is parsed strictly", async () => {
  const { app } = await start();
  const strange: Readonly<Record<string, string>> = {
    "lines that end without CR": "GET /health HTTP/1.1\nHost: a\nConnection: close\n\n",
    "a folded header": "GET /health HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\nConnection: close\r\n\r\n",
    "a method in lower case": "get /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "a length beside chunks":
      "POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  };
  for (const [what, sent] of Object.entries(strange)) {
    const socket = connect(app.port, app.host);
    socket.write(sent);
    expect.soft(await text(socket), what).toMatch(/^HTTP\/1\.1 400 /);
  }
});
