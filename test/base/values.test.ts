// The values of a text and of a message are counted in their bytes, and both counts are what a parser builds.

import { create, createFileRegistry, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { scanJson } from "../../src/platform/base/json/scan.ts";
import { type JsonNode, jsonDepthMax, jsonValuesMax, parseJsonText } from "../../src/platform/base/json/text.ts";
import { scanMessage } from "../../src/platform/base/message-values.ts";
import { atOnce } from "../../src/platform/base/steps.ts";
import { arbitraryMessage } from "../gateways/arbitrary-message.ts";

const countText = (text: string): number => atOnce(scanJson(Buffer.from(text)));

function countNodes(node: JsonNode): number {
  const children =
    node.kind === "object" ? node.members.map(({ value }) => value) : node.kind === "array" ? node.items : [];
  return children.reduce((sum, child) => sum + countNodes(child), 1);
}

describe("the values of a JSON text", () => {
  test("are those of its parser, for every value and every way to write it", () => {
    const spaces = fc.constantFrom("", " ", "\n\t", "  ");
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), spaces, (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(countText(`${space}${text}${space}`)).toBe(countNodes(parseJsonText(text)));
      }),
    );
  });

  test.each([
    ["brackets and commas in strings", '["[{,", "\\"[,", "\\\\", {"a,b": ","}]', 6],
    ["an empty object and an empty array", "[{}, [ ], { }]", 4],
    ["a string that ends the text", '"a', 1],
    ["an escape that ends the text", '"a\\', 1],
    ["nothing", "", 0],
  ])("of %s are counted", (_, text, values) => {
    expect(countText(text)).toBe(values);
  });

  test("are counted in steps, so that others get turns", () => {
    const steps = [...scanJson(Buffer.from(`"${"x".repeat(5 * 1_048_576)}"`))];
    expect(steps.length).toBeGreaterThanOrEqual(5);
  });

  test("and their nesting have the limits of the parser", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const list = (length: number): string => `[${Array(length).fill("1").join(",")}]`;
    for (const read of [countText, parseJsonText]) {
      expect(() => read(nested(jsonDepthMax))).not.toThrow();
      expect(() => read(nested(jsonDepthMax + 1))).toThrow(`nested deeper than ${jsonDepthMax} levels`);
      expect(() => read(list(jsonValuesMax - 1))).not.toThrow();
      expect(() => read(list(jsonValuesMax))).toThrow(`more than ${jsonValuesMax} values`);
    }
  });
});

/** A message of lists: varints, four and eight bytes an item. */
const ListValues = messageOfLists([
  FieldDescriptorProto_Type.INT32,
  FieldDescriptorProto_Type.FIXED32,
  FieldDescriptorProto_Type.DOUBLE,
]);

function messageOfLists(types: readonly FieldDescriptorProto_Type[]): DescMessage {
  const label = FieldDescriptorProto_Label.REPEATED;
  const field = types.map((type, index) => ({ name: `list_${index}`, number: index + 1, type, label }));
  const file = { name: "lists.proto", syntax: "proto3", messageType: [{ name: "Lists", field }] };
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] }));
  const desc = registry.getMessage("Lists");
  if (desc === undefined) {
    throw new Error("the registry lacks its only message");
  }
  return desc;
}

describe("the values of a message", () => {
  test("are at least its fields, items and messages, and at most its bytes", () => {
    fc.assert(
      fc.property(arbitraryMessage(SendMessageRequestSchema), (message) => {
        const bytes = toBinary(SendMessageRequestSchema, message as never);
        const values = atOnce(scanMessage(SendMessageRequestSchema, bytes));
        expect(values).toBeGreaterThanOrEqual(countFields(SendMessageRequestSchema, message));
        expect(values).toBeLessThanOrEqual(bytes.byteLength);
      }),
    );
  });

  test("are at least what the parser builds, also of damaged bytes, unless the scan refuses them", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(arbitraryMessage(SendMessageRequestSchema), damage, (message, changes) => {
        const bytes = toBinary(SendMessageRequestSchema, message as never);
        for (const [at, byte] of bytes.length === 0 ? [] : changes) {
          bytes[at % bytes.length] = byte;
        }
        const values = attempt(() => atOnce(scanMessage(SendMessageRequestSchema, bytes)));
        const built = attempt(() => fromBinary(SendMessageRequestSchema, bytes));
        if (values !== undefined && built !== undefined) {
          expect(countFields(SendMessageRequestSchema, built)).toBeLessThanOrEqual(values);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("have a limit, for empty messages, unknown fields and everything else that takes two bytes", () => {
    const tooMany = (bytes: readonly number[]) => () =>
      atOnce(scanMessage(SendMessageRequestSchema, Buffer.alloc(2 * (jsonValuesMax + 1)).fill(Buffer.from(bytes))));
    const emptyMessage = [0x22, 0];
    const unknownNumber = [0x78, 1];
    expect(tooMany(emptyMessage)).toThrow(`more than ${jsonValuesMax} values`);
    expect(tooMany(unknownNumber)).toThrow(`more than ${jsonValuesMax} values`);
  });

  test("are counted in steps, so that others get turns", () => {
    const emptyMessages = (count: number): Buffer => Buffer.alloc(2 * count).fill(Buffer.from([0x22, 0]));
    const steps = [...scanMessage(SendMessageRequestSchema, emptyMessages(100_000))];
    expect(steps.length).toBeGreaterThanOrEqual(6);
  });

  test("are counted in packed lists: each item is one", () => {
    const count = (bytes: readonly number[]) => atOnce(scanMessage(ListValues, Buffer.from(bytes)));
    expect(count([0x0a, 4, 1, 0x80, 1, 3])).toBe(1 + 3);
    expect(count([0x12, 8, ...Array(8).fill(0)])).toBe(1 + 2);
    expect(count([0x1a, 16, ...Array(16).fill(0)])).toBe(1 + 2);
  });

  test.each([
    ["a message that is longer than the bytes", [0x22, 9], "a field is longer than its message"],
    [
      "a message whose last field ends behind it",
      [0x22, 2, 0x12, 9, ...Array(9).fill(0x61)],
      "longer than its message",
    ],
    ["bytes that end inside a tag", [0x80], "premature EOF"],
    ["a text with the wire type of a number", [0x08, 1], "the field session_id has the wire type of another type"],
    ["a message with the wire type of a number", [0x20, 1], "the field messages has the wire type of another type"],
    [
      "a switch with the wire type of a text",
      [0x52, 1, 1],
      "the field queue_if_busy has the wire type of another type",
    ],
  ])("%s is refused: the parser would find other values", (_, bytes, text) => {
    expect(() => atOnce(scanMessage(SendMessageRequestSchema, Buffer.from(bytes)))).toThrow(text);
  });

  test("a packed list that ends inside an item is refused", () => {
    for (const bytes of [
      [0x0a, 2, 1, 0x80],
      [0x12, 5, 0, 0, 0, 0, 0],
      [0x1a, 4, 0, 0, 0, 0],
    ]) {
      expect(() => atOnce(scanMessage(ListValues, Buffer.from(bytes)))).toThrow("ends in the middle of an item");
    }
  });
});

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function countFields(desc: DescMessage, message: Message): number {
  const reflected = reflect(desc, message);
  return desc.fields
    .filter((field) => reflected.isSet(field))
    .reduce((sum, field) => {
      if (field.fieldKind === "list") {
        const items = [...reflected.get(field)] as { message: Message }[];
        const nested = field.message;
        return (
          sum + items.reduce((all, item) => all + 1 + (nested === undefined ? 0 : countFields(nested, item.message)), 0)
        );
      }
      return sum + 1 + (field.fieldKind === "message" ? countFields(field.message, reflected.get(field).message) : 0);
    }, 0);
}
