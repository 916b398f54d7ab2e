// The readers and printers of JSON.

import { create } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { HttpBodySchema } from "#gen/google/api/httpbody_pb.js";
import { ToolCallStartedSchema } from "#gen/runnel/v1/result_pb.js";
import { SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { parseFreeJson } from "../../../src/platform/base/json/free.ts";
import { readObjectText } from "../../../src/platform/base/json/object-text.ts";
import { printMessage, styleJson } from "../../../src/platform/base/json/print.ts";
import { readMessageJson } from "../../../src/platform/base/json/read.ts";
import { scanJson } from "../../../src/platform/base/json/scan.ts";
import { compactJson, parseJsonText } from "../../../src/platform/base/json/text.ts";
import { parseTimestamp } from "../../../src/platform/base/json/timestamp.ts";
import { readValueText } from "../../../src/platform/base/json/value-text.ts";
import { scanMessage } from "../../../src/platform/base/message-values.ts";
import { atOnce } from "../../../src/platform/base/steps.ts";
import { decodeUtf8 } from "../../../src/platform/base/utf8.ts";
import type { GrowthCase } from "../growth.ts";
import { jsonTexts, plainTexts } from "../inputs.ts";
import { pairs } from "./pairs.ts";

const bodySchema = SendMessageRequestSchema;

export const jsonCases: readonly GrowthCase[] = [
  ...pairs(jsonTexts, {
    parseJsonText: (text) => parseJsonText(text),
    "parseJsonText, one value of several": (text) => parseJsonText(text, { ignoreTrailing: true }),
    parseFreeJson: (text) => parseFreeJson(text),
    compactJson: (text) => compactJson(text, parseJsonText(text)),
    "compactJson, sorted": (text) => compactJson(text, parseJsonText(text), { sortKeys: true }),
    readObjectText: (text) => {
      const object = readObjectText(text, "field");
      return object.names.map((key) => object.find(key)) && object.ownText;
    },
    "printMessage with raw JSON": (text) =>
      printMessage(ToolCallStartedSchema, create(ToolCallStartedSchema, { parameters: text })),
    styleJson: (text) => styleJson(text, { goText: true }),
    "readMessageJson, strict": (text) => readMessageJson(reflect(bodySchema), text, { lenient: false }),
    "readMessageJson, lenient": (text) => readMessageJson(reflect(bodySchema), text, { lenient: true }),
  }),
  ...pairs({ ...jsonTexts, ...plainTexts }, { scanJson: (text) => atOnce(scanJson(Buffer.from(text))) }),
  {
    reader: "readValueText of bytes",
    input: "padding and a digit",
    prepare: (size) => () => readValueText(HttpBodySchema.field.data, `${"=".repeat(size)}a`),
  },
  ...Object.entries({ "empty messages": [0x22, 0], "unknown fields": [0x78, 1], zeros: [0, 0] }).map(
    ([input, bytes]): GrowthCase => ({
      reader: "scanMessage",
      input,
      prepare: (size) => {
        const message = Buffer.alloc(size).fill(Buffer.from(bytes));
        return () => atOnce(scanMessage(bodySchema, message));
      },
    }),
  ),
  ...pairs(plainTexts, {
    "parseJsonText of text": (text) => parseJsonText(text),
    parseTimestamp: (text) => parseTimestamp(text),
    "readValueText of every kind": (text) => bodySchema.fields.map((field) => readValueText(field, text)),
    decodeUtf8: (text) => decodeUtf8(Buffer.from(text)),
    "decodeUtf8 of invalid bytes": (text) => decodeUtf8(Buffer.concat([Buffer.from(text), Buffer.of(0xff)])),
  }),
  {
    reader: "readMessageJson",
    input: "many messages",
    prepare: (size) => {
      const text = JSON.stringify({
        messages: Array.from({ length: size / 10 }, () => ({ role: "user", content: "a" })),
      });
      return () => readMessageJson(reflect(bodySchema), text, { lenient: false });
    },
  },
];
