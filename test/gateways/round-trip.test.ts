// A round trip returns the same value: messages as JSON in every profile, values in paths and queries. For random messages of
// every type of the contract, and of a type that has every kind of field.

import { type DescField, type DescMessage, type Message, ScalarType, toBinary } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { type Timestamp, FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { array, assert, constantFrom, property, shuffledSubarray, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { printMessage, styleJson } from "../../src/platform/base/json/print.ts";
import { readMessageJson } from "../../src/platform/base/json/read.ts";
import { formatTimestamp } from "../../src/platform/base/json/timestamp.ts";
import { assignPath, assignQuery } from "../../src/surfaces/rest/params.ts";
import { createRouter } from "../../src/surfaces/rest/route.ts";
import { compileBindings } from "../../src/surfaces/rest/rule.ts";
import { parseTemplate } from "../../src/surfaces/rest/template.ts";
import { arbitraryMessage, arbitraryValue } from "./arbitrary-message.ts";
import { buildMessage, buildMethod, type FieldSpec } from "./descriptors.ts";

const timestamp = { type: Type.MESSAGE, typeName: ".google.protobuf.Timestamp" };
const color = { type: Type.ENUM, typeName: ".test.Color" };
const self = { type: Type.MESSAGE, typeName: ".test.Request" };

/** Every kind of field that both JSON and a query can express, followed by the kinds that only JSON can. */
const plainFields: readonly Omit<FieldSpec, "number">[] = [
  { name: "double", type: Type.DOUBLE },
  { name: "float", type: Type.FLOAT },
  { name: "int32", type: Type.INT32 },
  { name: "sint32", type: Type.SINT32 },
  { name: "sfixed32", type: Type.SFIXED32 },
  { name: "uint32", type: Type.UINT32 },
  { name: "fixed32", type: Type.FIXED32 },
  { name: "int64", type: Type.INT64 },
  { name: "sint64", type: Type.SINT64 },
  { name: "sfixed64", type: Type.SFIXED64 },
  { name: "uint64", type: Type.UINT64 },
  { name: "fixed64", type: Type.FIXED64 },
  { name: "bool", type: Type.BOOL },
  { name: "text", type: Type.STRING },
  { name: "data", type: Type.BYTES },
  { name: "color", ...color },
  { name: "some_time", ...timestamp },
  { name: "some_texts", repeated: true },
  { name: "some_numbers", type: Type.INT64, repeated: true },
  { name: "some_times", ...timestamp, repeated: true },
  { name: "colors", ...color, repeated: true },
];
const jsonFields: readonly Omit<FieldSpec, "number">[] = [
  { name: "maybe", optional: true },
  { name: "maybe_number", type: Type.INT32, optional: true, json: { nullWhenUnset: true } },
  { name: "left", oneof: true },
  { name: "right", ...self, oneof: true },
  { name: "inner", ...self, json: { nullWhenUnset: true } },
  { name: "many", ...self, repeated: true, json: { emitEmpty: true } },
  { name: "raw", json: { raw: true } },
  { name: "raws", json: { raw: true }, repeated: true },
  { name: "zero", type: Type.INT64, json: { emitEmpty: true } },
  { name: "nothing", json: { nullWhenUnset: true } },
  { name: "millis", ...timestamp, json: { millis: true, nullWhenUnset: true } },
];

function number(specs: readonly Omit<FieldSpec, "number">[]): FieldSpec[] {
  return specs.map((spec, index) => ({ ...spec, number: index + 1 }));
}

const everything = buildMethod(number([...plainFields, ...jsonFields]), undefined).input;

const everythingInCamelCase = buildMessage(number([...plainFields, ...jsonFields]), true);

const contract = [SessionService, RunService, AuthService, SystemService, ExchangeService]
  .flatMap(({ methods }) => methods.flatMap(({ input, output }) => [input, output]))
  .map((desc): [string, DescMessage] => [desc.typeName, desc]);

/** Compares bytes, in which NaN equals itself. */
function expectSame(desc: DescMessage, actual: Message, expected: Message): void {
  expect(toBinary(desc, actual)).toEqual(toBinary(desc, expected));
}

function read(desc: DescMessage, text: string, lenient: boolean): Message {
  const message = reflect(desc);
  readMessageJson(message, text, { lenient });
  return message.message;
}

describe("printed and read again, a message is the same:", () => {
  test.each<[string, DescMessage]>([
    ["a message of every kind of field", everything],
    ["the same in camel case", everythingInCamelCase],
    ...contract,
  ])("%s", async (_, desc) => {
    await assert(
      property(arbitraryMessage(desc), (message) => {
        const text = printMessage(desc, message);
        expectSame(desc, read(desc, text, false), message);
        // Raw JSON keeps its written escapes, so the test compares the texts.
        const goText = styleJson(text, { goText: true });
        expect(styleJson(printMessage(desc, read(desc, goText, false)), { goText: true })).toBe(goText);
        expect(JSON.parse(goText)).toEqual(JSON.parse(text));
        expect(text + goText).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test("leniently too, with any case of its keys and any trailing data", async () => {
    // Text could look like a key.
    const desc = buildMethod(number(plainFields.filter(({ name }) => !name.includes("text"))), undefined).input;
    await assert(
      property(arbitraryMessage(desc), string(), (message, trailing) => {
        const shouted = printMessage(desc, message).replaceAll(/"\w+":/g, (key) => key.toUpperCase());
        expectSame(desc, read(desc, `${shouted} ${trailing}`, true), message);
      }),
    );
  });
});

/** Returns the text of a value as a caller would write it. */
function formatValue(field: DescField, value: unknown): string {
  if (field.message !== undefined) {
    return formatTimestamp((value as ReflectMessage).message as Timestamp);
  }
  if (field.scalar === ScalarType.BYTES) {
    return base64Encode(value as Uint8Array);
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

describe("in a query", () => {
  const method = buildMethod(number([...plainFields, { name: "inner", ...self }]), {
    pattern: { case: "get", value: "/things" },
  });
  const [binding] = compileBindings(method);
  const { input } = method;
  const fields = input.fields.filter(({ name }) => name !== "inner");

  function readQuery(query: string): Message {
    const message = reflect(input);
    if (binding !== undefined) {
      assignQuery(message, binding, query, { lastEventId: "", lenient: false });
    }
    return message.message;
  }

  test.each(fields.map((field) => [field.name, field] as const))("%s is read as it was written", async (_, field) => {
    const values = field.fieldKind === "list" ? { minLength: 1, maxLength: 5 } : { minLength: 1, maxLength: 1 };
    await assert(
      property(
        array(arbitraryValue(field), values),
        constantFrom(field.name, field.jsonName),
        constantFrom("", "inner.", "inner.inner."),
        constantFrom(encodeURIComponent, (text: string) => encodeURIComponent(text).replaceAll("%20", "+")),
        (items, key, prefix, encode) => {
          const query = items
            .map((item) => `${encode(`${prefix}${key}`)}=${encode(formatValue(field, item))}`)
            .join("&");
          const expected = reflect(input);
          let holder = expected;
          for (const step of prefix.split(".").slice(0, -1)) {
            const child = reflect(input);
            holder.set(input.fields.find(({ name }) => name === step) ?? field, child);
            holder = child;
          }
          for (const item of items) {
            if (field.fieldKind === "list") {
              holder.get(field).add(item);
            } else {
              holder.set(field, item);
            }
          }
          expectSame(input, readQuery(query), expected.message);
        },
      ),
    );
  });

  test("several fields are all read, in any order", async () => {
    const written = { text: "a&b=c", int64: "7", bool: "true" };
    await assert(
      property(shuffledSubarray(Object.entries(written)), (pairs) => {
        const query = pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("&");
        const message = reflect(input, readQuery(query));
        const found = fields.flatMap((field) =>
          message.isSet(field) ? [[field.name, String(message.get(field))]] : [],
        );
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(pairs));
      }),
    );
  });
});

describe("in a path", () => {
  const segment = string({ unit: "binary", minLength: 1 });

  test.each(
    number(plainFields)
      .filter((spec) => spec.repeated !== true)
      .map((spec) => [spec.name, spec] as const),
  )("%s is read as it was written", async (name, spec) => {
    const method = buildMethod([spec], { pattern: { case: "get", value: `/things/{${name}}` } });
    const [binding] = compileBindings(method);
    const [field] = method.input.fields;
    if (binding === undefined || field === undefined) {
      throw new Error("no binding");
    }
    const router = createRouter([{ httpMethod: "GET", template: binding.template, target: binding }]);
    await assert(
      property(arbitraryValue(field), (value) => {
        const text = formatValue(field, value);
        const match = router.find("GET", `/things/${encodeURIComponent(text)}`);
        if (text === "") {
          expect(match.kind).toBe("not_found");
          return;
        }
        const message = reflect(method.input);
        assignPath(message, binding, match.kind === "found" ? match.capture() : new Map());
        const expected = reflect(method.input);
        expected.set(field, value);
        expectSame(method.input, message.message, expected.message);
      }),
    );
  });

  test("any text is one segment and comes back unchanged between any neighbours", async () => {
    const template = parseTemplate("/v1/{first}/x/{second}:go");
    const router = createRouter([{ httpMethod: "POST", template, target: "it" }]);
    await assert(
      property(segment, segment, (first, second) => {
        const match = router.find("POST", `/v1/${encodeURIComponent(first)}/x/${encodeURIComponent(second)}:go`);
        expect(match.kind === "found" && Object.fromEntries(match.capture())).toEqual({ first, second });
      }),
    );
  });

  test("a capture of several segments can be split at its slashes, because those inside a segment stay escaped", async () => {
    const router = createRouter([{ httpMethod: "GET", template: parseTemplate("/v1/{rest=**}"), target: "it" }]);
    await assert(
      property(array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const match = router.find("GET", `/v1/${segments.map(encodeURIComponent).join("/")}`);
        const captured = match.kind === "found" ? match.capture().get("rest") : undefined;
        expect(captured?.split("/").map((text) => text.replaceAll("%2F", "/"))).toEqual(
          // A slash that was escaped in the text itself looks the same as one that was escaped on the way.
          segments.map((text) => text.replaceAll("%2F", "/")),
        );
      }),
    );
  });
});

test("the random messages cover every field", async () => {
  const seen = new Set<string>();
  await assert(
    property(arbitraryMessage(everything), (message) => {
      const reflected = reflect(everything, message);
      for (const field of everything.fields.filter((candidate) => reflected.isSet(candidate))) {
        seen.add(field.name);
      }
    }),
  );
  expect(seen).toEqual(new Set(everything.fields.map(({ name }) => name)));
});
