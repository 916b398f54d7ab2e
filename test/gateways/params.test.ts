// Query, path and Last-Event-ID → fields of the request.

import { toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { assignPath, assignQuery } from "../../src/surfaces/rest/params.ts";
import { compileBindings } from "../../src/surfaces/rest/rule.ts";
import { buildMethod, type FieldSpec } from "./descriptors.ts";

const fields: readonly FieldSpec[] = [
  { name: "id", number: 1 },
  { name: "page_size", number: 2, type: Type.INT32 },
  { name: "big", number: 3, type: Type.INT64 },
  { name: "unsigned", number: 4, type: Type.UINT32 },
  { name: "flag", number: 5, type: Type.BOOL },
  { name: "ratio", number: 6, type: Type.DOUBLE },
  { name: "data", number: 7, type: Type.BYTES },
  { name: "color", number: 8, type: Type.ENUM, typeName: ".test.Color" },
  { name: "time", number: 9, type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp" },
  { name: "tags", number: 10, repeated: true },
  { name: "numbers", number: 11, type: Type.INT32, repeated: true },
  { name: "inner", number: 12, type: Type.MESSAGE, typeName: ".test.Request" },
  { name: "many", number: 13, type: Type.MESSAGE, typeName: ".test.Request", repeated: true },
  { name: "left", number: 14, oneof: true },
  { name: "right", number: 15, oneof: true },
  { name: "deep", number: 16, type: Type.MESSAGE, typeName: ".test.Request", oneof: true },
  { name: "small", number: 17, type: Type.FLOAT },
  { name: "after", number: 18, type: Type.INT64, cursor: { queryAliases: ["after_seq"] } },
];

interface Options {
  readonly body?: string;
  readonly lastEventId?: string;
  readonly path?: Record<string, string>;
  readonly lenient?: boolean;
}

function read(query: string, options: Options = {}) {
  const pattern = { case: options.body === undefined ? ("get" as const) : ("post" as const), value: "/{id}" };
  const method = buildMethod(fields, { pattern, body: options.body ?? "" }, { server: true });
  const [binding] = compileBindings(method);
  if (binding === undefined) {
    throw new Error("no binding");
  }
  const message = reflect(method.input);
  const { lastEventId = "", lenient = false } = options;
  assignQuery(message, binding, query, { lastEventId, lenient });
  assignPath(message, binding, new Map(Object.entries(options.path ?? {})));
  return toJson(method.input, message.message, { useProtoFieldName: true });
}

describe("the query", () => {
  test.each([
    ["", {}],
    ["&&", {}],
    ["page_size=5", { page_size: 5 }],
    ["pageSize=5", { page_size: 5 }],
    ["page%5Fsize=%35", { page_size: 5 }],
    ["page_size=-0", {}],
    ["page_size=1e2", { page_size: 100 }],
    ["big=9007199254740993", { big: "9007199254740993" }],
    ["big=-9223372036854775808", { big: "-9223372036854775808" }],
    ["unsigned=4294967295", { unsigned: 4294967295 }],
    ["flag=true", { flag: true }],
    ["ratio=-1.5e3", { ratio: -1500 }],
    ["ratio=Infinity", { ratio: "Infinity" }],
    ["data=_-8", { data: "/+8=" }],
    ["data=/%2B8=", { data: "/+8=" }],
    ["color=COLOR_RED", { color: "COLOR_RED" }],
    ["color=1", { color: "COLOR_RED" }],
    ["time=2026-01-31T12:00:00.5%2B01:00", { time: "2026-01-31T11:00:00.500Z" }],
    ["tags=a&tags=&tags=b+c%2B", { tags: ["a", "", "b c+"] }],
    ["numbers=1&numbers=2", { numbers: [1, 2] }],
    ["inner.inner.pageSize=1&inner.flag=true", { inner: { flag: true, inner: { page_size: 1 } } }],
    ["inner.tags=a&inner.tags=b", { inner: { tags: ["a", "b"] } }],
    ["left=", { left: "" }],
    ["deep.left=x", { deep: { left: "x" } }],
    ["after_seq=7", { after: "7" }],
  ])("%s", (query, expected) => {
    expect(read(query)).toEqual(expected);
  });

  test.each([
    ["nope=1", 'query parameter "nope" is unknown'],
    ["PAGE_SIZE=1", "is unknown"],
    ["inner.nope=1", 'query parameter "inner.nope" is unknown'],
    ["page_size.x=1", "is unknown"],
    ["=1", 'query parameter "" is unknown'],
    ["page_size=1&page_size=2", 'query parameter "page_size" is given twice'],
    ["page_size=1&pageSize=1", 'query parameter "pageSize" is given twice'],
    ["after=1&after_seq=1", 'query parameter "after_seq" is given twice'],
    ["id=1", 'query parameter "id" is already part of the path'],
    ["inner=x", 'query parameter "inner" is not a field with a single value'],
    ["many=x", 'query parameter "many" is not a field with a single value'],
    ["many.id=x", "is unknown"],
    ["page_size=", "must be a 32-bit integer"],
    ["page_size=2147483648", "must be a 32-bit integer"],
    ["page_size=1.5", "must be a 32-bit integer"],
    ["page_size=0x10", "must be a 32-bit integer"],
    ["page_size=007", "must be a 32-bit integer"],
    ["unsigned=-1", "not negative"],
    ["big=9223372036854775808", "must be a 64-bit integer"],
    [`big=${"9".repeat(100_000)}`, "must be a 64-bit integer"],
    ["flag=1", "must be true or false"],
    ["flag", "must be true or false"],
    ["ratio=1e999", "must be a number"],
    ["small=1e39", "must be a number"],
    ["data=a", "must be a base64 string"],
    ["data=a*b=", "must be a base64 string"],
    ["color=RED", "must be one of COLOR_UNSPECIFIED, COLOR_RED"],
    ["time=2026-02-30T00:00:00Z", "must be an RFC 3339 time"],
    ["time=yesterday", "must be an RFC 3339 time"],
    ["left=a&right=b", 'query parameter "right" cannot be given together with left'],
    ["left=a&deep.id=b", 'query parameter "deep.id" cannot be given together with left'],
    ["a=%ZZ", "invalid query"],
    ["%FF=a", "invalid query"],
  ])("%s is refused: %s", (query, problem) => {
    expect(() => read(query)).toThrow(problem);
  });

  test("is forbidden beside a body that is the whole message", () => {
    expect(() => read("page_size=1", { body: "*" })).toThrow('query parameter "page_size" is not allowed in the query');
    expect(read("", { body: "*" })).toEqual({});
  });

  test("may not reach into the field that is the body", () => {
    expect(() => read("inner.flag=true", { body: "inner" })).toThrow('"inner.flag" is part of the body');
    expect(read("flag=true", { body: "inner" })).toEqual({ flag: true });
  });

  describe("of a lenient service", () => {
    test("may contain unknown parameters", () => {
      expect(read("_=1&nope=x&page_size=5&id=1&inner=x&%FF=a&a=%ZZ&=", { lenient: true })).toEqual({ page_size: 5 });
      expect(read("_=1&page_size=x", { lenient: true, body: "*" })).toEqual({});
    });

    test.each([
      ["page_size=ten", 'query parameter "page_size" must be a 32-bit integer'],
      ["page_size=1&page_size=2", 'query parameter "page_size" is given twice'],
      ["tags=%ZZ", "invalid query"],
    ])("still refuses a known one: %s", (query, problem) => {
      expect(() => read(query, { lenient: true })).toThrow(problem);
    });
  });
});

describe("a path variable", () => {
  test("is read as the type of its field and overrides an earlier value", () => {
    expect(read("", { path: { id: "x" } })).toEqual({ id: "x" });
  });
});

describe("Last-Event-ID", () => {
  test("fills the cursor and overrides the query", () => {
    expect(read("after=3", { lastEventId: "7" })).toEqual({ after: "7" });
    expect(read("after=3")).toEqual({ after: "3" });
  });

  test("is refused when it is no valid cursor", () => {
    expect(() => read("", { lastEventId: "x" })).toThrow("invalid Last-Event-ID: must be a 64-bit integer");
  });
});
