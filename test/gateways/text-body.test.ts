// Plain text as the body of a request, beside JSON: the text fills one field unchanged, and path and query fill the others.

import type { JsonValue } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { array, assert, constantFrom, oneof, property, string, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { Validation } from "#gen/runnel/options/v1/options_pb.js";
import { createErrorMapper, createFaultInterceptor } from "../../src/api/faults.ts";
import { createValidationInterceptor } from "../../src/api/validation.ts";
import { restCallNotes } from "../../src/platform/base/rest-call.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { decodeText, isPlainText } from "../../src/surfaces/rest/text-body.ts";
import { buildService, type FieldSpec, type MethodSpec } from "./descriptors.ts";
import { type JsonMethod, type RestServerSpec, startRestServer } from "./rest-server.ts";

const fields: readonly FieldSpec[] = [
  { name: "text", number: 1 },
  { name: "id", number: 2 },
  { name: "sequence", number: 3, type: Type.INT32 },
  { name: "tags", number: 4, repeated: true },
  { name: "inner", number: 5, type: Type.MESSAGE, typeName: ".test.Request" },
  { name: "left", number: 7, oneof: true },
  { name: "raw", number: 8, json: { raw: true } },
  { name: "data", number: 9, type: Type.BYTES },
  { name: "maybe", number: 10, optional: true },
  { name: "other_text", number: 11 },
  { name: "named", number: 12, header: "x-named" },
];

const takeText: MethodSpec = {
  rule: { pattern: { case: "post", value: "/v1/things/{id}" }, body: "*" },
  textRequest: "text",
  output: ".google.protobuf.Empty",
};

interface Question {
  readonly type?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly query?: string;
  readonly method?: MethodSpec;
  readonly headers?: Record<string, string>;
  readonly server?: Partial<RestServerSpec>;
  readonly lenient?: boolean;
  readonly answer?: JsonMethod;
}

/** Returns status and JSON of the answer, and the request as the handler got it. */
async function ask(question: Question): Promise<{ status: number; json: unknown; seen: JsonValue | undefined }> {
  const { type, body = "", query = "", method = takeText, headers = {}, server: spec, lenient = false } = question;
  let seen: JsonValue | undefined;
  const answer: JsonMethod = (request, context) => {
    seen = request;
    return question.answer?.(request, context) ?? {};
  };
  const service = buildService({ fields, methods: { Do: method }, profile: { lenient } });
  await using server = await startRestServer({ own: { service, methods: { Do: answer } }, ...spec });
  const response = await fetch(`${server.url}/v1/things/t${query}`, {
    method: "POST",
    // Sent as bytes, because fetch adds a content type for a string.
    body: typeof body === "string" ? Buffer.from(body) : body,
    headers: { ...headers, ...(type === undefined ? {} : { "content-type": type }) },
  });
  return { status: response.status, json: await response.json(), seen };
}

describe("a body of plain text", () => {
  test.each([
    "text/plain",
    "text/plain; charset=utf-8",
    'text/plain;charset="UTF-8"',
    "TEXT/Plain ; Charset=utf8",
    "text/plain; format=fixed; charset=Utf-8",
    "text/plain; charset",
  ])("of type %s fills its field unchanged", async (type) => {
    const text = ' {"text": "no JSON"}\r\n\t\u0000\u2028é\u{1f433}\ufffd\n\n';
    expect(await ask({ type, body: text })).toEqual({ status: 200, json: {}, seen: { id: "t", text } });
  });

  test("may be empty", async () => {
    expect(await ask({ type: "text/plain" })).toMatchObject({ status: 200, seen: { id: "t" } });
    const maybe = { ...takeText, textRequest: "maybe" };
    expect(await ask({ type: "text/plain", method: maybe })).toMatchObject({ seen: { id: "t", maybe: "" } });
  });

  test("loses one byte order mark at its start, and no other", async () => {
    const { seen } = await ask({ type: "text/plain", body: "\ufeff\ufeffa\ufeff" });
    expect(seen).toEqual({ id: "t", text: "\ufeffa\ufeff" });
    expect((await ask({ type: "text/plain", body: "\ufeff" })).seen).toEqual({ id: "t" });
  });

  test("leaves the other fields to path and query", async () => {
    const query = "?sequence=2&tags=a&tags=b%20c&inner.text=in&maybe=";
    expect((await ask({ type: "text/plain", body: "x", query })).seen).toEqual({
      id: "t",
      text: "x",
      sequence: 2,
      tags: ["a", "b c"],
      inner: { text: "in" },
      maybe: "",
    });
  });

  test.each([
    ["?nope=1", 'query parameter "nope" is unknown'],
    ["?text=y", 'query parameter "text" is part of the body'],
    ["?id=u", 'query parameter "id" is already part of the path'],
    ["?sequence=x", 'query parameter "sequence" must be a 32-bit integer'],
    ["?sequence=1&sequence=1", 'query parameter "sequence" is given twice'],
  ])("is refused with the query %s", async (query, error) => {
    const { status, json, seen } = await ask({ type: "text/plain", body: "x", query });
    expect([status, json, seen]).toEqual([
      400,
      expect.objectContaining({ error, reason: "INVALID_ARGUMENT" }),
      undefined,
    ]);
  });

  test.each([
    ["latin1", '"latin1"'],
    ["us-ascii", '"us-ascii"'],
    ["utf-16", '"utf-16"'],
    ['""', '""'],
    ["iso-8859-1; charset=utf-8", '"iso-8859-1"'],
    ["x".repeat(1000), `"${"x".repeat(40)}"`],
  ])("in the charset %.30s is refused", async (charset, shown) => {
    const { status, json, seen } = await ask({ type: `text/plain; charset=${charset}`, body: "x" });
    expect([status, seen]).toEqual([415, undefined]);
    expect(json).toEqual({
      error: `the charset of text/plain must be utf-8, not ${shown}`,
      code: "INVALID_ARGUMENT",
      reason: "MEDIA_TYPE_UNSUPPORTED",
    });
  });

  test.each<[string, number[], number]>([
    ["an invalid byte", [0x61, 0xff, 0x62], 1],
    ["a byte that only goes on", [0x80], 0],
    ["a character that breaks off", [0x61, 0x62, 0xe2, 0x82], 2],
    ["a character that is interrupted", [0xf0, 0x9f, 0x90, 0x61], 0],
    ["a shorter character made long", [0x61, 0xc0, 0xaf], 1],
    ["one of three bytes made long", [0xe0, 0x80, 0xaf], 0],
    ["half of a surrogate pair", [0x61, 0xed, 0xa0, 0x80], 1],
    ["a character beyond the last", [0xf4, 0x90, 0x80, 0x80], 0],
    ["a mark of UTF-16", [0xff, 0xfe, 0x61, 0x00], 0],
    ["a bad byte after a mark and U+FFFD", [0xef, 0xbb, 0xbf, 0xef, 0xbf, 0xbd, 0xef, 0xbf], 6],
  ])("with %s is refused with the offset", async (_, bytes, offset) => {
    const { status, json, seen } = await ask({ type: "text/plain", body: Uint8Array.from(bytes) });
    const description = `the byte at offset ${offset} is not UTF-8: send the text as UTF-8`;
    expect([status, seen]).toEqual([400, undefined]);
    expect(json).toEqual({
      error: `invalid text: ${description}`,
      code: "INVALID_ARGUMENT",
      reason: "INVALID_ARGUMENT",
      details: { violations: [{ field: "text", description }] },
    });
  });

  test("of any bytes is read as their text, or refused at the first byte that is not UTF-8", async () => {
    const pieces = oneof(
      string({ unit: "binary" }).map((text) => Buffer.from(text)),
      constantFrom(...["\ufffd", "\ufeff", "\u{10ffff}", "\u0800"].map((text) => Buffer.from(text))),
      uint8Array({ maxLength: 5 }),
    );
    await assert(
      property(array(pieces), (parts) => {
        const bytes = Buffer.concat(parts);
        const lossy = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
        const again = Buffer.from(lossy);
        if (again.equals(bytes)) {
          expect(decodeText("text", bytes)).toBe(lossy.replace(/^\ufeff/, ""));
          return;
        }
        const [, offset] = /offset (\d+)/.exec(refusalOf(bytes)) ?? [];
        const good = bytes.subarray(0, Number(offset));
        // The bytes before the offset are well formed, and no character begins there.
        expect(Buffer.from(good.toString())).toEqual(good);
        const rest = [1, 2, 3, 4].map((length) => bytes.subarray(Number(offset), Number(offset) + length));
        expect(rest.filter((piece) => Buffer.from(piece.toString()).equals(piece))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("of 4 MiB is read in one pass, even when its last byte is bad", async () => {
    // Work that a careless reader does for each character would happen over a million times here.
    const text = "\ufffd".repeat((4 * 1_048_576) / 3);
    const { status, seen } = await ask({ type: "text/plain", body: text });
    expect([status, (seen as { text: string }).text === text]).toEqual([200, true]);
    const bad = Buffer.concat([Buffer.from(text), Buffer.of(0xff)]);
    expect((await ask({ type: "text/plain", body: bad })).json).toMatchObject({
      error: expect.stringContaining(`offset ${bad.byteLength - 1} is not UTF-8`),
    });
    const escaped = { text: '\n"\u0000'.repeat(1_048_576 / 2) };
    const json = await ask({ type: "application/json", body: JSON.stringify(escaped) });
    expect([json.status, (json.seen as { text: string }).text === escaped.text]).toEqual([200, true]);
  });

  test("may not be compressed, nor larger than the limit for bodies", async () => {
    const packed = await ask({ type: "text/plain", body: "x", headers: { "content-encoding": "gzip" } });
    expect(packed).toMatchObject({ status: 415, json: { reason: "MEDIA_TYPE_UNSUPPORTED" } });
    const server = { bodyBytesMax: 10 };
    expect(await ask({ type: "text/plain", body: "0123456789", server })).toMatchObject({ status: 200 });
    const large = await ask({ type: "text/plain", body: "0123456789a", server });
    expect(large).toMatchObject({ status: 413, json: { reason: "BODY_TOO_LARGE" } });
  });

  test("may already have been read by the server", async () => {
    const server = { call: { body: Buffer.from("signed") } };
    expect((await ask({ type: "text/plain", server })).seen).toEqual({ id: "t", text: "signed" });
  });

  test("is read as strictly by a lenient service", async () => {
    expect((await ask({ type: "text/plain", body: "x", lenient: true })).seen).toEqual({ id: "t", text: "x" });
    const bad = await ask({ type: "text/plain", body: Uint8Array.of(0xff), lenient: true });
    expect(bad).toMatchObject({ status: 400, json: { error: expect.stringContaining("offset 0 is not UTF-8") } });
  });

  test("that is bad is left to a handler that validates itself", async () => {
    const method = { ...takeText, validation: Validation.HANDLER };
    const faults: (string | undefined)[] = [];
    const answer: JsonMethod = (_, { values }) => {
      faults.push(restCallNotes(values)?.inputFault?.message);
      return {};
    };
    const { seen } = await ask({ type: "text/plain", body: Uint8Array.of(0xff), query: "?sequence=1", method, answer });
    expect(seen).toEqual({ id: "t", sequence: 1 });
    expect(faults).toEqual(["invalid text: the byte at offset 0 is not UTF-8: send the text as UTF-8"]);
  });
});

describe("beside plain text", () => {
  test.each(["application/json", "Application/JSON; charset=utf-8"])("%s is read as before", async (type) => {
    const body = '{"text":"a\\n","sequence":3}';
    expect((await ask({ type, body })).seen).toEqual({ id: "t", text: "a\n", sequence: 3 });
    expect((await ask({ type, body: "a" })).json).toMatchObject({
      error: expect.stringContaining("invalid request body: "),
    });
    expect((await ask({ type, body: "{}", query: "?sequence=2" })).json).toMatchObject({
      error: 'query parameter "sequence" is not allowed in the query: put it into the body',
    });
  });

  test("a body without a type is read as JSON by a lenient service, and refused by a strict one", async () => {
    const body = '{"text":"a"}';
    expect((await ask({ body, lenient: true })).seen).toEqual({ id: "t", text: "a" });
    expect((await ask({ body: "a", lenient: true })).status).toBe(400);
    expect(await ask({ body })).toMatchObject({ status: 415, seen: undefined });
  });

  test.each(["text/html", "text/plainer", "application/octet-stream", "text/plain, text/plain", "text", ""])(
    "the type %j is refused, and the error names both accepted types",
    async (type) => {
      const { status, json } = await ask({ type, body: "x" });
      expect([status, json]).toMatchObject([415, { error: "content-type must be application/json or text/plain" }]);
    },
  );

  test("a method without text_request refuses it", async () => {
    const method: MethodSpec = { ...takeText, textRequest: "" };
    for (const type of ["text/plain", "text/plain; charset=latin1"]) {
      const { status, json } = await ask({ type, body: "x", method });
      expect([status, json]).toMatchObject([415, { error: "content-type must be application/json" }]);
    }
  });
});

describe("a field that text cannot fill stops the start:", () => {
  const post = { case: "post", value: "/v1/things/{id}" } as const;
  const whole = { pattern: post, body: "*" };

  test.each<[string, MethodSpec, string]>([
    ["no field", { textRequest: "nope" }, "text_request nope is not a plain string of test.Request"],
    ["a name in camel case", { textRequest: "otherText" }, "text_request otherText is not a plain string"],
    ["a field inside of a field", { textRequest: "inner.text" }, "text_request inner.text is not a plain string"],
    ["a number", { textRequest: "sequence" }, "text_request sequence is not a plain string"],
    ["bytes", { textRequest: "data" }, "text_request data is not a plain string"],
    ["a list", { textRequest: "tags" }, "text_request tags is not a plain string"],
    ["a message", { textRequest: "inner" }, "text_request inner is not a plain string"],
    ["a member of a oneof", { textRequest: "left" }, "text_request left is not a plain string"],
    ["raw JSON", { textRequest: "raw" }, "text_request raw is not a plain string"],
    ["what the path says", { textRequest: "id" }, "text_request id is filled by the path or a header already"],
    ["what a header says", { textRequest: "named" }, "text_request named is filled by the path or a header already"],
    ["a rule without a body", { rule: { pattern: post } }, 'text_request text needs the body "*"'],
    ["a body that is one field", { rule: { pattern: post, body: "text" } }, 'text_request text needs the body "*"'],
    [
      "a further rule without a body",
      { rule: { ...whole, additionalBindings: [{ pattern: { case: "get", value: "/v1/x" } }] } },
      'text_request text needs the body "*"',
    ],
    [
      "bytes of any type",
      {
        rule: { pattern: { case: "post", value: "/v1/x" }, body: "*" },
        input: ".google.api.HttpBody",
        textRequest: "data",
      },
      "text_request data is not a plain string of google.api.HttpBody",
    ],
  ])("%s", async (_, method, problem) => {
    const service = buildService({ fields, methods: { Do: { ...takeText, ...method } } });
    await expect(startRestServer({ own: { service, methods: {} } })).rejects.toMatchObject({
      reason: "CONFIG_INVALID",
      message: expect.stringContaining(`google.api.http of test.TestService.Do: ${problem}`),
    });
  });
});

describe("an inbox", () => {
  const interceptors = [
    createFaultInterceptor(createErrorMapper(createEvents(createLogger("silent")), [])),
    createValidationInterceptor(),
  ];

  async function send(path: string, type: string, body: string) {
    const seen: JsonValue[] = [];
    const note = (answer: JsonValue): JsonMethod => {
      return (request) => {
        seen.push(request);
        return answer;
      };
    };
    const methods = { SubmitInbox: note({ sequence: 3 }), ParseInbox: note({}) };
    await using server = await startRestServer({
      own: { service: ExchangeService, methods },
      interceptors,
    });
    const response = await fetch(`${server.url}${path}`, { method: "POST", body, headers: { "content-type": type } });
    return { status: response.status, text: await response.text(), seen };
  }

  test("can be submitted as text or as JSON, with the same effect", async () => {
    const expected = [{ exchange_id: "a1b2c3d4", text: "[DONE]\n", sequence: 2 }];
    const answer = '{"results":[],"sequence":3,"is_complete":false}\n';
    const path = "/v1/exchanges/a1b2c3d4/inbox";
    const asText = await send(`${path}?sequence=2`, "text/plain", "[DONE]\n");
    expect(asText).toEqual({ status: 200, text: answer, seen: expected });
    const asJson = await send(path, "application/json", '{"text":"[DONE]\\n","sequence":2}');
    expect(asJson).toEqual({ status: 200, text: answer, seen: expected });
  });

  test("is parsed as text", async () => {
    const { text, seen } = await send("/v1/exchanges:parse", "text/plain; charset=utf-8", "\ufeff[DONE]");
    expect([text, seen]).toEqual(['{"commands":[]}\n', [{ text: "[DONE]" }]]);
  });

  test("is checked by the rules of its fields, like JSON", async () => {
    const { status, text, seen } = await send("/v1/exchanges/a1b2c3d4/inbox?sequence=-1", "text/plain", "x");
    expect([status, JSON.parse(text), seen]).toMatchObject([
      400,
      { reason: "INVALID_ARGUMENT", details: { violations: [{ field: "sequence" }] } },
      [],
    ]);
  });
});

test("only the exact content type is plain text, not one that begins with it", () => {
  const types = ["text/plain", " text/plain;x=y", "text/plain+json", "text/*", "text/plain/x", "plain", ""];
  expect(types.filter(isPlainText)).toEqual(["text/plain", " text/plain;x=y"]);
});

function refusalOf(bytes: Uint8Array): string {
  try {
    decodeText("text", bytes);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
