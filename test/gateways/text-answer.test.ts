// Plain text as the body of an answer, and JSON for clients that ask for it.

import { connect as connectHttp2 } from "node:http2";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { restCallNotes } from "../../src/platform/base/rest-call.ts";
import { prefersJson } from "../../src/surfaces/rest/accept.ts";
import { buildService, type FieldSpec, type MethodSpec } from "./descriptors.ts";
import { type JsonMethod, type RestServerSpec, startRestServer } from "./rest-server.ts";

const fields: readonly FieldSpec[] = [
  { name: "text", number: 1 },
  { name: "sequence", number: 2, type: Type.INT32 },
  { name: "document", number: 3, type: Type.MESSAGE, typeName: ".google.api.HttpBody" },
];
const plainFields = fields.slice(0, 2);
const pattern = { case: "get", value: "/v1/things" } as const;
const giveText: MethodSpec = { rule: { pattern }, textResponse: "text" };
const json = { accept: "application/json" };

async function ask(
  answer: JsonMethod,
  headers: Record<string, string> = {},
  method: MethodSpec = {},
  spec: Partial<RestServerSpec> = {},
) {
  const service = buildService({
    fields: plainFields,
    methods: { Do: { ...giveText, ...method } },
    profile: { goText: true },
  });
  await using server = await startRestServer({ own: { service, methods: { Do: answer } }, ...spec });
  const response = await fetch(`${server.url}/v1/things`, { headers });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

describe("an answer of plain text", () => {
  test("is the whole field and nothing else", async () => {
    const text = '\ufeff {"no": "JSON"}\r\n<é\u{1f433}\u2028>\u0000 no final newline';
    const answer = await ask(() => ({ text, sequence: 2 }));
    // A reader of text drops the byte order mark at its start.
    expect([answer.status, answer.text]).toEqual([200, text.slice(1)]);
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
      vary: "accept",
    });
  });

  test("is empty when the field is empty", async () => {
    const { status, headers, text } = await ask(() => ({ sequence: 2 }));
    expect([status, headers["content-length"], text]).toEqual([200, "0", ""]);
  });

  test("is the usual JSON for a caller that accepts JSON and not text", async () => {
    const answer = await ask(() => ({ text: "<a>\n", sequence: 2 }), json);
    expect(answer).toMatchObject({ status: 200, text: '{"text":"\\u003ca\\u003e\\n","sequence":2}\n' });
    expect(answer.headers).toMatchObject({ "content-type": "application/json", vary: "accept" });
    expect(answer.headers).not.toHaveProperty("x-content-type-options");
  });

  test("keeps the JSON of the field that response_body names", async () => {
    const method = { rule: { pattern, responseBody: "sequence" } };
    expect((await ask(() => ({ text: "a", sequence: 2 }), json, method)).text).toBe("2\n");
    expect((await ask(() => ({ text: "a", sequence: 2 }), {}, method)).text).toBe("a");
  });

  test("has the status that the method declares, or that the handler chooses", async () => {
    const method = { successStatus: 201, otherSuccessStatuses: [204] };
    expect(await ask(() => ({ text: "a" }), {}, method)).toMatchObject({ status: 201, text: "a" });
    const choose: JsonMethod = (_, { values }) => {
      Object.assign(restCallNotes(values) ?? {}, { successStatus: 204 });
      return { text: "a" };
    };
    const { status, headers, text } = await ask(choose, {}, method);
    expect([status, headers["content-type"], text]).toEqual([204, undefined, ""]);
  });

  test("fails in JSON like every other answer, for any accepted type", async () => {
    const fail: JsonMethod = () => {
      throw new ConnectError("gone", Code.NotFound);
    };
    for (const accept of ["text/plain", "application/json", "*/*"]) {
      const { status, headers, text } = await ask(fail, { accept });
      expect([status, headers["content-type"], JSON.parse(text)]).toEqual([
        404,
        "application/json",
        { error: "gone", code: "NOT_FOUND" },
      ]);
    }
  });

  test("adds accept to the Vary header of the server", async () => {
    const { headers } = await ask(() => ({ text: "a" }), {}, {}, { headers: { vary: "Origin" } });
    expect(headers.vary).toBe("Origin, accept");
  });

  test("a method without it has no Vary header", async () => {
    const { headers } = await ask(() => ({ text: "a" }), { accept: "text/plain" }, { textResponse: "" });
    expect(headers["content-type"]).toBe("application/json");
    expect(headers).not.toHaveProperty("vary");
  });

  test("works over HTTP/2", async () => {
    const service = buildService({ fields: plainFields, methods: { Do: giveText } });
    const own = { service, methods: { Do: () => ({ text: "é" }) } };
    await using server = await startRestServer({ http2: true, own, headers: { vary: "Origin" } });
    const session = connectHttp2(server.url);
    const stream = session.request({ ":path": "/v1/things" });
    const headers = new Promise<Record<string, unknown>>((resolve) => {
      stream.once("response", (received) => resolve(received));
    });
    const bytes = Buffer.concat(await Array.fromAsync<Buffer>(stream));
    session.destroy();
    expect(bytes.toString()).toBe("é");
    expect(await headers).toMatchObject({
      ":status": 200,
      "content-type": "text/plain; charset=utf-8",
      vary: "Origin, accept",
    });
  });

  test("is the outbox of an exchange", async () => {
    const methods = { GetOutbox: () => ({ text: "# Task\n", sequence: 1, file_name: "a1b2c3d4_seq0001.txt" }) };
    await using server = await startRestServer({ own: { service: ExchangeService, methods } });
    const url = `${server.url}/v1/exchanges/a1b2c3d4/outbox`;
    expect(await (await fetch(url)).text()).toBe("# Task\n");
    expect(await (await fetch(url, { headers: json })).text()).toBe(
      '{"text":"# Task\\n","sequence":1,"file_name":"a1b2c3d4_seq0001.txt","is_complete":false}\n',
    );
  });
});

test.each([
  [undefined, false],
  ["", false],
  ["*/*", false],
  ["text/plain", false],
  ["text/html", false],
  ["image/png", false],
  ["application/json", true],
  ["Application/JSON; charset=utf-8", true],
  ["application/*", true],
  ["application/vnd.thing+json", true],
  ["application/problem+json;q=0.1, text/html", true],
  ["application/json, text/html;q=0.9", true],
  ["application/json, */*", false],
  ["application/json, */*;q=0.001", false],
  ["application/json, text/*", false],
  ["application/json;q=1, text/plain;q=0.1", false],
  ["application/json, text/plain;q=0", true],
  ["application/json, */*;q=0", true],
  ["application/json, text/*; Q = 0.000", true],
  ["application/json;q=0", false],
  ["application/json;q=0, application/*", false],
  ["application/*;q=0, application/json", true],
  ["text/plain;q=0, application/json, */*;q=0.1", true],
  ["text/plain;format=flowed;q=0, text/plain, application/json", false],
  ["application/json, text/plain;q=much", true],
  ["application/json;q=much", false],
  [" , ;,application/json,;q=1", true],
  ["application/jsonp, text/plain+json2", false],
  [`application/json${", a/b".repeat(100_000)}`, true],
])("for %.60j JSON is preferred: %s", (accept, expected) => {
  expect(prefersJson(accept)).toBe(expected);
});

describe("a field that is not text stops the start:", () => {
  test.each<[string, MethodSpec, string]>([
    ["no field", { textResponse: "nope" }, "text_response nope is not a plain string of a unary test.Request"],
    ["a number", { textResponse: "sequence" }, "text_response sequence is not a plain string of a unary test.Request"],
    ["a stream", { server: true }, "text_response text is not a plain string of a unary test.Request"],
    [
      "bytes of any type",
      { output: ".google.api.HttpBody", textResponse: "content_type" },
      "text_response content_type is not a plain string of a unary google.api.HttpBody",
    ],
    [
      "text beside bytes of any type",
      { rule: { pattern, responseBody: "document" } },
      "text_response text cannot be combined with the body document",
    ],
  ])("%s", async (_, method, problem) => {
    const service = buildService({ fields, methods: { Do: { ...giveText, ...method } } });
    await expect(startRestServer({ own: { service, methods: {} } })).rejects.toMatchObject({
      reason: "CONFIG_INVALID",
      message: `google.api.http of test.TestService.Do: ${problem}`,
    });
  });
});
