// google.api.HttpBody: bytes of any media type as request and as answer, untouched.

import type { JsonObject } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { buildService, type MethodSpec } from "./descriptors.ts";
import { type JsonMethod, startRestServer } from "./rest-server.ts";

const httpBody = ".google.api.HttpBody";
const empty = ".google.protobuf.Empty";

function serviceOf(method: MethodSpec) {
  return buildService({
    fields: [
      { name: "id", number: 1 },
      { name: "document", number: 2, type: Type.MESSAGE, typeName: httpBody },
    ],
    methods: { Do: method },
  });
}

async function ask(method: MethodSpec, answer: JsonMethod, path: string, init: RequestInit = {}): Promise<Response> {
  await using server = await startRestServer({ own: { service: serviceOf(method), methods: { Do: answer } } });
  const response = await fetch(`${server.url}${path}`, init);
  // The server is gone when this returns, so the body is read before.
  return new Response(response.status === 204 ? null : await response.arrayBuffer(), response);
}

const post = (path: string, body: string) => ({ pattern: { case: "post" as const, value: path }, body });
const get = (path: string) => ({ pattern: { case: "get" as const, value: path } });

/** Every byte value, among them line ends and bytes that are not UTF-8. */
const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);

describe("as the body of a request", () => {
  const seen: unknown[] = [];
  const note: JsonMethod = (request) => {
    seen.push(request);
    return {};
  };

  test.each([
    ["application/octet-stream", "application/octet-stream"],
    ["text/plain; charset=utf-8", "text/plain; charset=utf-8"],
    ["application/json", "application/json"],
    ["", undefined],
  ])("of type %s fills its field with the bytes unchanged", async (contentType, expected) => {
    const rule = post("/v1/things/{id}", "document");
    const headers = contentType === "" ? {} : { "content-type": contentType };
    const response = await ask({ rule, output: empty }, note, "/v1/things/a%2Fb", {
      method: "POST",
      headers,
      body: allBytes,
    });
    expect([response.status, await response.text()]).toEqual([200, "{}\n"]);
    const data = Buffer.from(allBytes).toString("base64");
    expect(seen.at(-1)).toEqual({ id: "a/b", document: { data, ...(expected && { content_type: expected }) } });
  });

  test("may be the whole request", async () => {
    const response = await ask({ rule: post("/v1/whole", "*"), input: httpBody, output: empty }, note, "/v1/whole", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: '{ "a": 1.0 } ',
    });
    expect(response.status).toBe(200);
    expect(seen.at(-1)).toEqual({
      content_type: "text/plain",
      data: Buffer.from('{ "a": 1.0 } ').toString("base64"),
    });
  });

  test("may be empty", async () => {
    await ask({ rule: post("/v1/things/{id}", "document"), output: empty }, note, "/v1/things/a", { method: "POST" });
    expect(seen.at(-1)).toEqual({ id: "a", document: {} });
  });

  test("may not be compressed", async () => {
    const response = await ask({ rule: post("/v1/things/{id}", "document"), output: empty }, note, "/v1/things/a", {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body: "x",
    });
    expect(response.status).toBe(415);
  });

  test("cannot be reached by the query", async () => {
    const rule = post("/v1/things/{id}", "document");
    const response = await ask({ rule, output: empty }, note, "/v1/things/a?document.content_type=x", {
      method: "POST",
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'query parameter "document.content_type" is part of the body' },
    ]);
  });
});

describe("as the body of an answer", () => {
  const body = (contentType: string, data: Uint8Array): JsonObject => ({
    contentType,
    data: Buffer.from(data).toString("base64"),
  });

  test("is sent with its type and nothing else, whole or as a field", async () => {
    const whole = await ask(
      { rule: get("/v1/whole"), output: httpBody },
      () => body("image/png", allBytes),
      "/v1/whole",
    );
    const field = await ask(
      { rule: { ...get("/v1/things/{id}"), responseBody: "document" }, successStatus: 202 },
      () => ({ document: body("image/png", allBytes) }),
      "/v1/things/a",
    );
    expect([whole.status, field.status]).toEqual([200, 202]);
    for (const response of [whole, field]) {
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "image/png",
        "content-length": "256",
      });
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(allBytes);
    }
  });

  test("gets no added newline", async () => {
    const text = Buffer.from('{"a":1}');
    const response = await ask(
      { rule: get("/v1/whole"), output: httpBody },
      () => body("text/plain", text),
      "/v1/whole",
    );
    expect(await response.text()).toBe('{"a":1}');
  });

  test("that is not set is empty, and application/octet-stream without a type", async () => {
    const rule = { ...get("/v1/things/{id}"), responseBody: "document" };
    const unset = await ask({ rule }, () => ({}), "/v1/things/a");
    expect([unset.status, unset.headers.get("content-length"), await unset.text()]).toEqual([200, "0", ""]);
    expect(unset.headers.get("content-type")).toBe("application/octet-stream");
  });

  test("with a type that is no valid header is an internal error, not half an answer", async () => {
    const answer: JsonMethod = () => body("text/plain\r\nx-evil: 1", allBytes);
    const response = await ask({ rule: get("/v1/whole"), output: httpBody }, answer, "/v1/whole");
    expect([response.status, response.headers.get("content-type"), response.headers.get("x-evil")]).toEqual([
      500,
      "application/json",
      null,
    ]);
    expect(await response.json()).toEqual({ error: "internal error", code: "INTERNAL", reason: "INTERNAL" });
  });
});

describe("in an invalid place", () => {
  test.each<[string, MethodSpec, string]>([
    ["inside a JSON request", { rule: post("/v1/x", "*"), output: empty }, "no form inside JSON"],
    ["inside a JSON answer", { rule: get("/v1/x") }, "no form inside JSON"],
    ["inside a stream of JSON", { rule: get("/v1/x"), server: true }, "no form inside JSON"],
    [
      "beside the body of a stream",
      { rule: { ...get("/v1/x"), responseBody: "id" }, server: true },
      "response_body id of a stream is not a google.api.HttpBody",
    ],
  ])("%s it stops the start", async (_, method, problem) => {
    const own = { service: serviceOf(method), methods: {} };
    await expect(startRestServer({ own })).rejects.toThrow(problem);
  });
});
