// The values of a text and of a message are counted in their bytes, and both counts are what a parser builds.

import { create, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
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

  test("have a limit, for empty messages, unknown fields and everything else that takes two bytes", () => {
    const tooMany = (bytes: readonly number[]) => () =>
      atOnce(scanMessage(SendMessageRequestSchema, Buffer.alloc(2 * (jsonValuesMax + 1)).fill(Buffer.from(bytes))));
    const emptyMessage = [0x22, 0];
    const unknownNumber = [0x78, 1];
    expect(tooMany(emptyMessage)).toThrow(`more than ${jsonValuesMax} values`);
    expect(tooMany(unknownNumber)).toThrow(`more than ${jsonValuesMax} values`);
  });

  test("are counted up to the place where the bytes are invalid", () => {
    const bytes = toBinary(SendMessageRequestSchema, create(SendMessageRequestSchema, { sessionId: "s" }));
    expect(atOnce(scanMessage(SendMessageRequestSchema, Buffer.concat([bytes, Buffer.from([0x22, 9])])))).toBe(2);
  });
});

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
