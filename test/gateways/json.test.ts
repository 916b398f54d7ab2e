// The REST JSON: printing, strict and lenient parsing, and raw JSON that passes through untouched.

import { create, type DescMessage, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { assert, constantFrom, jsonValue, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { RunResultSchema, StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import { Session_State, SessionSchema } from "#gen/runnel/v1/session_pb.js";
import {
  CreateSessionRequestSchema,
  SendMessageResponseSchema,
  ToolResultEventSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { printField, printMessage, styleJson } from "../../src/platform/base/json/print.ts";
import { readFieldJson, readMessageJson } from "../../src/platform/base/json/read.ts";
import { compileBodyShapes } from "../../src/platform/base/json/shape.ts";
import { compactJson, parseJsonText } from "../../src/platform/base/json/text.ts";
import { buildMessage, type FieldSpec } from "./descriptors.ts";

function read(desc: DescMessage, text: string, lenient = false): JsonValue {
  const message = reflect(desc);
  readMessageJson(message, text, { lenient });
  return toJson(desc, message.message, { useProtoFieldName: true });
}

function print(desc: DescMessage, value: JsonValue): string {
  return printMessage(desc, fromJson(desc, value));
}

const anyDesc = buildMessage([
  { name: "last", number: 20, type: Type.INT32 },
  { name: "some_name", number: 1 },
  { name: "big", number: 2, type: Type.INT64 },
  { name: "huge", number: 3, type: Type.UINT64 },
  { name: "ratio", number: 4, type: Type.DOUBLE },
  { name: "data", number: 5, type: Type.BYTES },
  { name: "color", number: 6, type: Type.ENUM, typeName: ".test.Color" },
  { name: "colors", number: 7, type: Type.ENUM, typeName: ".test.Color", repeated: true },
  { name: "time", number: 8, type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp" },
  { name: "raw", number: 9, json: { raw: true } },
  { name: "raws", number: 10, json: { raw: true }, repeated: true },
  { name: "maybe", number: 11, optional: true },
  { name: "inner", number: 12, type: Type.MESSAGE, typeName: ".test.Request" },
  { name: "many", number: 13, type: Type.MESSAGE, typeName: ".test.Request", repeated: true },
  { name: "left", number: 14, oneof: true },
  { name: "right", number: 15, oneof: true },
  { name: "flag", number: 16, type: Type.BOOL },
  { name: "count", number: 17, type: Type.INT32, json: { emitEmpty: true } },
]);

describe("printing", () => {
  test("orders keys by field number, names them as the proto does and leaves defaults out", () => {
    const session = create(SessionSchema, {
      latestRunId: "r",
      createdAt: { seconds: 1_767_225_600n, nanos: 120_000_000 },
      status: Session_State.RUNNING,
      name: "a",
      sessionId: "s",
      durationMs: 5n,
    });
    expect(printMessage(SessionSchema, session)).toBe(
      '{"session_id":"s","name":"a","model":"","status":"running","duration_ms":5,"created_at":"2026-01-01T00:00:00.12Z","latest_run_id":"r"}',
    );
  });

  test("prints empty fields where the contract asks for it", () => {
    expect(printMessage(SendMessageResponseSchema, create(SendMessageResponseSchema))).toBe('{"tools_registered":[]}');
    expect(printMessage(ToolResultEventSchema, create(ToolResultEventSchema))).toBe('{"success":false,"content":""}');
  });

  test("prints an optional field and a oneof member that are set, even when they are empty", () => {
    expect(print(anyDesc, { maybe: "", left: "" })).toBe('{"maybe":"","left":"","count":0}');
  });

  test.each([
    [{ big: "9007199254740991" }, '"big":9007199254740991'],
    [{ big: "-9007199254740991" }, '"big":-9007199254740991'],
    [{ big: "9007199254740992" }, '"big":"9007199254740992"'],
    [{ huge: "18446744073709551615" }, '"huge":"18446744073709551615"'],
    [{ ratio: 0.5 }, '"ratio":0.5'],
    [{ ratio: "NaN" }, '"ratio":"NaN"'],
    [{ data: "/+8=" }, '"data":"/+8="'],
    [{ color: "COLOR_RED" }, '"color":"COLOR_RED"'],
    [{ colors: ["COLOR_UNSPECIFIED", 7] }, '"colors":["COLOR_UNSPECIFIED",7]'],
    [{ time: "2026-01-31T12:00:00.000000001Z" }, '"time":"2026-01-31T12:00:00.000000001Z"'],
    [{ time: "0001-01-01T00:00:00Z" }, '"time":"0001-01-01T00:00:00Z"'],
    [{ some_name: 'a"\u2028</script>&\u2029' }, '"some_name":"a\\"\u2028</script>&\u2029"'],
    [{ inner: {} }, '"inner":{"count":0}'],
    [{ raw: '{ "b": [1.0, 12345678901234567890],\n "1": "<" }' }, '"raw":{"b":[1.0,12345678901234567890],"1":"<"}'],
    [{ raw: "not json" }, '"raw":"not json"'],
    [{ raws: ["null", ' "x" '] }, '"raws":[null,"x"]'],
  ])("%j contains %s", (value, expected) => {
    expect(print(anyDesc, value)).toContain(expected);
  });

  test("prints null for an unset field where the contract asks for it, and the value of a set one", () => {
    const desc = buildMessage([
      { name: "text", number: 1, json: { nullWhenUnset: true } },
      { name: "count", number: 2, type: Type.INT32, optional: true, json: { nullWhenUnset: true } },
      { name: "inner", number: 3, type: Type.MESSAGE, typeName: ".test.Request", json: { nullWhenUnset: true } },
      { name: "color", number: 4, type: Type.ENUM, typeName: ".test.Color", json: { nullWhenUnset: true } },
      { name: "raw", number: 5, json: { raw: true, nullWhenUnset: true } },
      {
        name: "time",
        number: 6,
        type: Type.MESSAGE,
        typeName: ".google.protobuf.Timestamp",
        json: { nullWhenUnset: true, millis: true },
      },
    ]);
    const nothing = '{"text":null,"count":null,"inner":null,"color":null,"raw":null,"time":null}';
    expect(print(desc, {})).toBe(nothing);
    expect(read(desc, nothing, true)).toEqual({});
    const time = "2026-01-31T12:00:00Z";
    expect(print(desc, { text: "a", count: 0, inner: {}, color: "COLOR_RED", raw: "[]", time })).toBe(
      `{"text":"a","count":0,"inner":${nothing},"color":"COLOR_RED","raw":[],"time":"2026-01-31T12:00:00.000Z"}`,
    );
    const field = desc.fields.find((candidate) => candidate.name === "text");
    expect(field && printField(desc, create(desc), field)).toBe("null");
  });

  test.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:00.1Z", "2026-01-31T12:00:00.100Z"],
    ["2026-01-31T12:00:00.000999999Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:59.999999999Z", "2026-01-31T12:00:59.999Z"],
    ["1969-12-31T23:59:59.123456Z", "1969-12-31T23:59:59.123Z"],
  ])("cuts %s to milliseconds", (time, expected) => {
    const spec = { type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp", json: { millis: true } };
    const desc = buildMessage([
      { name: "time", number: 1, ...spec },
      { name: "times", number: 2, ...spec, repeated: true },
    ]);
    expect(print(desc, { time, times: [time] })).toBe(`{"time":"${expected}","times":["${expected}"]}`);
  });

  test.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    [
      '[{"b":{"z":1.50,"y":"\\u0041"},"a":[{"d":0,"c":1e400}]}]',
      '[{"a":[{"c":1e400,"d":0}],"b":{"y":"\\u0041","z":1.50}}]',
    ],
    ['{ "a" : 1, "B" : 2, "_" : 3, "" : 4 }', '{"":4,"B":2,"_":3,"a":1}'],
    ['{"\\u0062":1,"a":2}', '{"a":2,"\\u0062":1}'],
    ['{"\uff5e":1,"\u{1f433}":2}', '{"\u{1f433}":2,"\uff5e":1}'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}'],
    ['{"a":1,"b":2,"a":3}', '{"a":1,"a":3,"b":2}'],
    ['"b"', '"b"'],
    ["not json", '"not json"'],
  ])("sorts the keys of the raw JSON %s", (raw, expected) => {
    const desc = buildMessage([
      { name: "sorted", number: 1, json: { raw: true, sortKeys: true } },
      { name: "unsorted", number: 2, json: { raw: true } },
    ]);
    expect(print(desc, { sorted: raw })).toBe(`{"sorted":${expected}}`);
    expect(print(desc, { unsorted: '{"b":1,"a":2}' })).toBe('{"unsorted":{"b":1,"a":2}}');
  });

  test("escapes text as Go does only where the profile says so", () => {
    const json = print(anyDesc, { some_name: '<&>\u2028\u2029"é' });
    expect(styleJson(json, { goText: false })).toBe('{"some_name":"<&>\u2028\u2029\\"é","count":0}');
    expect(styleJson(json, { goText: true })).toBe('{"some_name":"\\u003c\\u0026\\u003e\\u2028\\u2029\\"é","count":0}');
  });

  test("refuses a time outside of RFC 3339", () => {
    const session = create(SessionSchema, { createdAt: { seconds: 253_402_300_800n, nanos: 0 } });
    expect(() => printMessage(SessionSchema, session)).toThrow("years 1 to 9999");
  });

  test("prints a single field even when it is empty, and an unset message as null", () => {
    const message = create(anyDesc);
    const printed = (name: string): string | undefined => {
      const field = anyDesc.fields.find((candidate) => candidate.name === name);
      return field && printField(anyDesc, message, field);
    };
    expect(["colors", "some_name", "big", "inner"].map(printed)).toEqual(["[]", '""', "0", "null"]);
  });
});

describe("reading", () => {
  test.each([
    ['{"some_name":"x"}', { some_name: "x" }],
    ['{"someName":"\\u00e9\\n"}', { some_name: "é\n" }],
    ['{"some_name":"\\ud800"}', { some_name: "\ufffd" }],
    [
      '{"big":9007199254740993,"huge":"18446744073709551615"}',
      { big: "9007199254740993", huge: "18446744073709551615" },
    ],
    ['{"last":3.0}', { last: 3 }],
    ['{"ratio":"1.5"}', { ratio: 1.5 }],
    [
      '{"color":"COLOR_RED","colors":[0,"COLOR_RED"]}',
      { color: "COLOR_RED", colors: ["COLOR_UNSPECIFIED", "COLOR_RED"] },
    ],
    ['{"time":"2026-01-31T12:00:00-01:30"}', { time: "2026-01-31T13:30:00Z" }],
    [
      '{"inner":{"inner":{"flag":true}},"many":[{},{"left":""}]}',
      { inner: { inner: { flag: true } }, many: [{}, { left: "" }] },
    ],
    ['{"some_name":null,"inner":null,"colors":null}', {}],
    [
      '{"raw":{"b":1.0,"a":[12345678901234567890, "\\u00e9"]}}',
      { raw: '{"b":1.0,"a":[12345678901234567890,"\\u00e9"]}' },
    ],
    ['{"raw":null,"raws":[null, 1]}', { raw: "null", raws: ["null", "1"] }],
    [" \t\r\n{ } \n", {}],
  ])("%s", (text, expected) => {
    expect(read(anyDesc, text)).toEqual(expected);
  });

  test.each([
    ["", "EOF"],
    ["  ", "EOF"],
    ["{", "unexpected EOF"],
    ['{"a', "unexpected EOF"],
    ["{a:1}", 'unexpected character "a"'],
    ['{"some_name":"x",}', 'unexpected character "}"'],
    ["[1,]", 'unexpected character "]"'],
    ['{"some_name":"\n"}', "in a string"],
    ['{"some_name":"\\x"}', "invalid escape"],
    ['{"last":01}', 'unexpected character "1"'],
    ['{"last":+1}', 'unexpected character "+"'],
    ["tru", 'unexpected character "t"'],
    ["\ufeff{}", "instead of a value"],
    ["{} x", "after the value"],
    ["[]", "expected an object, got a list"],
    ["null", "expected an object, got null"],
    ['{"nope":1}', "nope: unknown key"],
    ['{"inner":{"nope":1}}', "inner.nope: unknown key"],
    ['{"SOME_NAME":"x"}', "SOME_NAME: unknown key"],
    ['{"__proto__":{}}', "__proto__: unknown key"],
    ['{"some_name":"x","someName":"x"}', "someName: given twice"],
    ['{"some_name":5}', "some_name: expected a string, got 5"],
    ['{"last":"x"}', 'last: expected a 32-bit integer, got "x"'],
    ['{"last":true}', "last: expected a 32-bit integer, got true"],
    ['{"last":2147483648}', "last: expected a 32-bit integer"],
    ['{"flag":"true"}', 'flag: expected true or false, got "true"'],
    ['{"ratio":1e999}', "ratio: expected a number"],
    ['{"color":"red"}', "color: expected one of COLOR_UNSPECIFIED, COLOR_RED"],
    ['{"colors":"COLOR_RED"}', "colors: expected a list"],
    ['{"colors":[null]}', "colors[0]: expected one of"],
    ['{"many":[{},{"last":""}]}', "many[1].last: expected a 32-bit integer"],
    ['{"inner":[]}', "inner: expected an object, got a list"],
    ['{"left":"a","right":"b"}', "right: only one of left and right can be given"],
    [`{"data":"${"*".repeat(50)}"}`, "data: expected a base64 string, got a string"],
    ["[".repeat(10_000), "nested deeper than 100 levels"],
    [`[${"0,".repeat(300_000)}0]`, "more than 250000 values"],
  ])("refuses %.40s", (text, problem) => {
    expect(() => read(anyDesc, text)).toThrow(/^invalid request body: /);
    expect(() => read(anyDesc, text)).toThrow(problem);
  });

  test("reads a body that is one field", () => {
    const message = reflect(anyDesc);
    const field = anyDesc.fields.find((candidate) => candidate.name === "colors");
    if (field !== undefined) {
      readFieldJson(message, field, '["COLOR_RED"]', { lenient: false });
    }
    expect(toJson(anyDesc, message.message)).toEqual({ colors: ["COLOR_RED"] });
  });

  test("reads and prints the json_value of an enum, and reads its other forms", () => {
    const result = (scope: string): string =>
      `{"run_id":"r","state_updated":{"scope":${scope},"key":"k","value":[1e400]}}`;
    for (const scope of ['"actor"', '"SCOPE_ACTOR"', String(StateUpdated_Scope.ACTOR)]) {
      const message = reflect(RunResultSchema);
      readMessageJson(message, result(scope), { lenient: false });
      expect(printMessage(RunResultSchema, message.message)).toBe(result('"actor"'));
    }
  });
});

describe("reading leniently", () => {
  test.each([
    ['{"AGENT":{"Name":"x","nope":[{}]},"Work_Dir":"/w","WORKDIR":"/v"}', { agent: { name: "x" }, work_dir: "/v" }],
    ['{"agent":{"name":"x"}} trailing', { agent: { name: "x" } }],
    ['{"agent":null,"session_id":null}', {}],
    ["null", {}],
    ['{"agent":{"name":"a"},"agent":{"model":"m"}}', { agent: { model: "m" } }],
  ])("%s", (text, expected) => {
    expect(read(CreateSessionRequestSchema, text, true)).toEqual(expected);
  });

  test.each([
    ["", "invalid request body: EOF"],
    ["x", "invalid request body: unexpected character"],
    ["[]", "invalid request body: expected an object"],
    ['{"agent":{"name":5}}', "invalid request body: agent.name: expected a string, got 5"],
  ])("still refuses %s", (text, problem) => {
    expect(() => read(CreateSessionRequestSchema, text, true)).toThrow(problem);
  });

  test("stops at the same depth", () => {
    const nested = (levels: number): string => `{"x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(read(CreateSessionRequestSchema, nested(99), true)).toEqual({});
    expect(() => read(CreateSessionRequestSchema, nested(100), true)).toThrow("nested deeper than 100 levels");
    expect(() => read(CreateSessionRequestSchema, nested(1_000_000), true)).toThrow("nested deeper than 100 levels");
  });

  test("reads null in a raw field as absent", () => {
    expect(read(anyDesc, '{"raw":null}', true)).toEqual({});
  });
});

describe("the JSON reader", () => {
  test("finds every value of a JSON text at its place", async () => {
    await assert(
      property(jsonValue(), constantFrom("", " ", "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(compactJson(text, parseJsonText(text))).toBe(JSON.stringify(value));
      }),
    );
  });

  test("accepts exactly what JSON.parse accepts", async () => {
    const accepts = (parse: (text: string) => unknown, text: string): boolean => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const pieces = constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"',
      "\\",
      "u0041",
      "a",
      "1",
      "0",
      "-",
      ".",
      "e",
      " ",
      "\n",
      "true",
      "null",
      '"a"',
    );
    const jsonish = string({ unit: pieces, maxLength: 12 });
    await assert(
      property(jsonish, (text) => {
        expect(accepts(parseJsonText, text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 5000 },
    );
  });
});

describe("values that JSON cannot represent", () => {
  const timestamp = { type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp" };
  const message = { type: Type.MESSAGE, typeName: ".test.Request" };

  test.each<[string, Partial<FieldSpec>, string]>([
    ["raw JSON in a number", { type: Type.INT32, json: { raw: true } }, "only a string can hold raw JSON"],
    ["an empty member of a oneof", { oneof: true, json: { emitEmpty: true } }, "emit_empty fits no message"],
    ["an empty message", { ...message, json: { emitEmpty: true } }, "emit_empty fits no message"],
    ["sorted keys of plain text", { json: { sortKeys: true } }, "sort_keys fits raw JSON alone"],
    ["milliseconds of plain text", { json: { millis: true } }, "millis fits a timestamp alone"],
    ["milliseconds of a message", { ...message, json: { millis: true } }, "millis fits a timestamp alone"],
    ["null for a plain number", { type: Type.INT32, json: { nullWhenUnset: true } }, "null_when_unset fits"],
    ["null for a plain bool", { type: Type.BOOL, json: { nullWhenUnset: true } }, "null_when_unset fits"],
    ["null for plain bytes", { type: Type.BYTES, json: { nullWhenUnset: true } }, "null_when_unset fits"],
    ["null for a list", { repeated: true, json: { nullWhenUnset: true } }, "null_when_unset fits"],
    ["null for a list of times", { ...timestamp, repeated: true, json: { nullWhenUnset: true } }, "null_when_unset"],
    ["null for a member of a oneof", { oneof: true, json: { nullWhenUnset: true } }, "null_when_unset fits"],
    ["null and an empty value", { json: { nullWhenUnset: true, emitEmpty: true } }, "not together with emit_empty"],
    ["a type that has no such JSON", { type: Type.MESSAGE, typeName: ".google.protobuf.Any" }, "has no form"],
    ["a body inside JSON", { type: Type.MESSAGE, typeName: ".google.api.HttpBody" }, "no form inside JSON"],
  ])("%s stops the start", (_, spec, problem) => {
    const desc = buildMessage([{ name: "a", number: 1, ...spec }]);
    expect(() => compileBodyShapes(desc, undefined)).toThrow(problem);
  });

  test("is checked in everything that a body holds", () => {
    const desc = buildMessage([
      { name: "many", number: 1, ...message, repeated: true },
      { name: "any", number: 2, type: Type.MESSAGE, typeName: ".google.protobuf.Any" },
    ]);
    const [many, any] = desc.fields;
    expect(() => compileBodyShapes(desc, many)).toThrow("google.protobuf.Any has no form");
    expect(() => compileBodyShapes(desc, any)).toThrow("google.protobuf.Any has no form");
    expect(() => compileBodyShapes(anyDesc, undefined)).not.toThrow();
  });
});
