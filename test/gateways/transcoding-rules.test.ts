// Every rule of the transcoder as one case through a real port: the called method with its request, or the refusal. The edge
// cases of each rule are in the tests of its part: template, route, rule, params, json, http-body.

import type { JsonValue } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { buildService, type FieldSpec, type MethodSpec } from "./descriptors.ts";
import { type JsonMethod, type RestServerSpec, startRestServer } from "./rest-server.ts";

const fields: readonly FieldSpec[] = [
  { name: "id", number: 1 },
  { name: "page_size", number: 2, type: Type.INT32 },
  { name: "tags", number: 3, repeated: true },
  { name: "inner", number: 4, type: Type.MESSAGE, typeName: ".test.Request" },
  { name: "many", number: 5, type: Type.MESSAGE, typeName: ".test.Request", repeated: true },
  { name: "left", number: 6, oneof: true },
  { name: "right", number: 7, oneof: true },
  { name: "big", number: 8, type: Type.INT64 },
  { name: "always", number: 9, type: Type.INT32, json: { emitEmpty: true } },
];

const get = (value: string) => ({ pattern: { case: "get" as const, value } });
const post = (value: string, body = "*") => ({ pattern: { case: "post" as const, value }, body });

const methods: Readonly<Record<string, MethodSpec>> = {
  GetThing: { rule: { ...get("/v1/things/{id}"), additionalBindings: [get("/v2/things/{inner.id}")] } },
  GetMine: { rule: get("/v1/things/mine") },
  GetAny: { rule: get("/v1/**") },
  GetTree: { rule: get("/v1/trees/{id=**}") },
  GetShelf: { rule: get("/v1/{id=shelves/*}") },
  ListThings: { rule: get("/v1/things") },
  CreateThing: { rule: post("/v1/things") },
  CancelThing: { rule: post("/v1/things/{id}:cancel") },
  PatchThing: { rule: { pattern: { case: "patch", value: "/v1/things/{id}" }, body: "inner" } },
  GetTags: { rule: { ...get("/v1/things/{id}/tags"), responseBody: "tags" } },
  DropThing: {
    rule: { pattern: { case: "delete", value: "/v1/things/{id}" } },
    output: ".google.protobuf.Empty",
  },
};

type Called = readonly [method: string, request: JsonValue];

/** Returns the requests that the handlers got, and their answers. Each handler echoes its request. */
async function ask(
  httpMethod: string,
  path: string,
  body?: string,
  { lenient = false, ...spec }: RestServerSpec & { readonly lenient?: boolean } = {},
) {
  const calls: Called[] = [];
  const note = (name: string): JsonMethod => {
    return (request) => {
      calls.push([name, request]);
      return methods[name]?.output === undefined ? request : {};
    };
  };
  await using server = await startRestServer({
    ...spec,
    own: {
      service: buildService({ fields, methods, profile: { lenient } }),
      methods: Object.fromEntries(Object.keys(methods).map((name) => [name, note(name)])),
    },
  });
  const response = await fetch(`${server.url}${path}`, {
    method: httpMethod,
    ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, text: await response.text(), allow: response.headers.get("allow"), calls };
}

describe("the call that a request becomes", () => {
  const nested = '{"page_size":7,"tags":["a"]}';

  test.each<[rule: string, request: [string, string, string?], called: Called]>([
    [
      "a path is matched as it is, and a capture decoded afterwards",
      ["GET", "/v1/things/a%2Fb%20c+d"],
      ["GetThing", { id: "a/b c+d" }],
    ],
    ["an escaped literal is another path", ["GET", "/v1/%74hings/a"], ["GetAny", {}]],
    ["a capture of several segments keeps its %2F", ["GET", "/v1/trees/a%2Fb/c%20d"], ["GetTree", { id: "a%2Fb/c d" }]],
    ["a capture with literals has them", ["GET", "/v1/shelves/a%2Fb"], ["GetShelf", { id: "shelves/a%2Fb" }]],
    ["a literal comes before a variable", ["GET", "/v1/things/mine"], ["GetMine", {}]],
    ["a variable comes before `**`", ["GET", "/v1/things/other"], ["GetThing", { id: "other" }]],
    ["`**` takes what is left", ["GET", "/v1/other/a/b"], ["GetAny", {}]],
    ["a verb is cut off at the last colon", ["POST", "/v1/things/a:b:cancel", "{}"], ["CancelThing", { id: "a:b" }]],
    ["an escaped colon belongs to the id", ["GET", "/v1/things/a%3Acancel"], ["GetThing", { id: "a:cancel" }]],
    ["a colon without a verb behind it belongs to the id", ["GET", "/v1/things/a:b"], ["GetThing", { id: "a:b" }]],
    ["an additional binding fills its own fields", ["GET", "/v2/things/a"], ["GetThing", { inner: { id: "a" } }]],
    [
      "the whole body is the message, and the path wins over it",
      ["POST", "/v1/things/a:cancel", '{"id":"b","page_size":2}'],
      ["CancelThing", { id: "a", page_size: 2 }],
    ],
    [
      "a body may be one field, beside the query",
      ["PATCH", "/v1/things/a?page_size=2", nested],
      ["PatchThing", { id: "a", page_size: 2, inner: { page_size: 7, tags: ["a"] } }],
    ],
    ["PATCH makes no field mask", ["PATCH", "/v1/things/a", "{}"], ["PatchThing", { id: "a", inner: {} }]],
    ["a query key may be snake case or lowerCamel", ["GET", "/v1/things?pageSize=3"], ["ListThings", { page_size: 3 }]],
    [
      "a key that is repeated fills a list",
      ["GET", "/v1/things?tags=a&tags=b+c&tags="],
      ["ListThings", { tags: ["a", "b c", ""] }],
    ],
    [
      "a dotted key reaches inside",
      ["GET", "/v1/things?inner.inner.id=a&inner.page_size=1"],
      ["ListThings", { inner: { page_size: 1, inner: { id: "a" } } }],
    ],
    [
      "JSON keys may be snake case or lowerCamel",
      ["POST", "/v1/things", '{"pageSize":3,"inner":{"page_size":4}}'],
      ["CreateThing", { page_size: 3, inner: { page_size: 4 } }],
    ],
    [
      "64 bits may be a number or a string",
      ["POST", "/v1/things", '{"big":"9007199254740993","inner":{"big":5}}'],
      ["CreateThing", { big: "9007199254740993", inner: { big: "5" } }],
    ],
  ])("%s", async (_, request, called) => {
    const { status, calls } = await ask(...request);
    expect([status, calls]).toEqual([200, [called]]);
  });
});

describe("the answer", () => {
  test.each<[rule: string, request: [string, string, string?], text: string]>([
    ["leaves defaults out unless an option asks for them", ["GET", "/v1/things/a"], '{"id":"a","always":0}\n'],
    [
      "has 64 bits as a number while that is exact",
      ["GET", "/v1/things?big=9007199254740991"],
      '{"big":9007199254740991,"always":0}\n',
    ],
    [
      "has 64 bits as a string beyond",
      ["GET", "/v1/things?big=9007199254740992"],
      '{"big":"9007199254740992","always":0}\n',
    ],
    ["is the field that response_body names", ["GET", "/v1/things/a/tags?tags=x&tags=y"], '["x","y"]\n'],
    ["is an empty object for Empty", ["DELETE", "/v1/things/a"], "{}\n"],
  ])("%s", async (_, request, text) => {
    expect(await ask(...request)).toMatchObject({ status: 200, text });
  });
});

describe("a request that is refused", () => {
  test.each<[rule: string, request: [string, string, string?], error: string]>([
    ["a malformed escape in a capture", ["GET", "/v1/things/%ZZ"], "invalid path: a percent escape"],
    [
      "a malformed escape in a segment that nobody captures",
      ["GET", "/v1/other/%ZZ"],
      "invalid path: a percent escape",
    ],
    ["an escape that is not UTF-8", ["GET", "/v1/things/%FF"], "invalid path: a percent escape"],
    ["a malformed escape in the query", ["GET", "/v1/things?id=%ZZ"], "invalid query: a percent escape"],
    [
      "a query beside a body that is the whole message",
      ["POST", "/v1/things?page_size=1", "{}"],
      '"page_size" is not allowed in the query',
    ],
    ["an unknown query key", ["GET", "/v1/things?nope=1"], 'query parameter "nope" is unknown'],
    [
      "two members of a oneof in the body",
      ["POST", "/v1/things", '{"left":"","right":""}'],
      "only one of left and right",
    ],
    ["an unknown JSON key", ["POST", "/v1/things", '{"nope":1}'], "invalid request body: nope: unknown key"],
    ["a query that nests deeper than any message", ["GET", `/v1/things?${"inner.".repeat(2_000)}id=x`], "is unknown"],
  ])("by 400 has %s", async (_, request, error) => {
    const { status, text, calls } = await ask(...request);
    expect([status, calls]).toEqual([400, []]);
    expect((JSON.parse(text) as { error: string }).error).toContain(error);
  });

  test.each<[rule: string, request: [string, string], status: number, allow: string | null]>([
    ["the path has no such method", ["PUT", "/v1/things/a"], 405, "GET, PATCH, DELETE"],
    ["the path of a verb has no such method", ["PATCH", "/v1/things/a:cancel"], 405, "POST"],
    ["HEAD is not GET", ["HEAD", "/v1/things/a"], 405, "GET, PATCH, DELETE"],
    ["OPTIONS asks what is allowed", ["OPTIONS", "/v1/things/a"], 204, "GET, PATCH, DELETE, OPTIONS"],
    ["the path is unknown", ["GET", "/v3/things"], 404, null],
    ["a trailing slash makes another path", ["GET", "/v1/trees/a/"], 404, null],
    ["an empty segment is not an id", ["GET", "/v1/things//tags"], 404, null],
  ])("because %s", async (_, request, status, allow) => {
    expect(await ask(...request)).toMatchObject({ status, allow, calls: [] });
  });

  test("because its media type is not JSON, unless the profile ignores the type", async () => {
    const answer = async (lenient: boolean): Promise<number> => {
      await using server = await startRestServer({
        own: {
          service: buildService({ fields, methods, profile: { lenient } }),
          methods: { CreateThing: (request) => request },
        },
      });
      const headers = { "content-type": "text/plain" };
      return (await fetch(`${server.url}/v1/things`, { method: "POST", headers, body: "{}" })).status;
    };
    expect(await answer(false)).toBe(415);
    expect(await answer(true)).toBe(200);
  });

  test("because its body is over the limit, before it is parsed", async () => {
    const { status, calls } = await ask("POST", "/v1/things", `${" ".repeat(100)}{}`, {
      bodyBytesMax: 100,
    });
    expect([status, calls]).toEqual([413, []]);
  });
});

describe("an invalid rule stops the start:", () => {
  test.each<[string, MethodSpec, string]>([
    ["`**` before the end", { rule: get("/v1/**/x") }, "`**` must be the last segment"],
    ["a stream without events", { rule: get("/v1/x"), server: true }, "has neither the sse option nor"],
  ])("%s", async (_, method, problem) => {
    const service = buildService({ fields, methods: { Do: method } });
    await expect(startRestServer({ own: { service, methods: {} } })).rejects.toThrow(problem);
  });
});
