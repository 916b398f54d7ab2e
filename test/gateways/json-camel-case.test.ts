// Messages whose documents have their keys in lower camel case.

import { fromJson, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import {
  ExportExchangeResponseSchema,
  ImportExchangeRequestSchema,
} from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { printMessage } from "../../src/platform/base/json/print.ts";
import { readMessageJson } from "../../src/platform/base/json/read.ts";
import { buildMessage, type FieldSpec } from "./descriptors.ts";

const fields: readonly FieldSpec[] = [
  { name: "work_dir", number: 3 },
  { name: "is_last", number: 1, type: Type.BOOL, json: { emitEmpty: true } },
  { name: "run_id", number: 2, json: { nullWhenUnset: true } },
  { name: "first_line", number: 4, type: Type.INT32 },
];

test("keys are printed in camel case, in the order of the field numbers", () => {
  const desc = buildMessage(fields, true);
  expect(printMessage(desc, fromJson(desc, {}))).toBe('{"isLast":false,"runId":null}');
  expect(printMessage(desc, fromJson(desc, { firstLine: 1, workDir: "w", runId: "r" }))).toBe(
    '{"isLast":false,"runId":"r","workDir":"w","firstLine":1}',
  );
});

test("camel case applies only to messages that declare it", () => {
  const session = { sessionId: "s", sequenceNumber: 2, createdAt: "2026-01-01T00:00:00Z", lastResults: [{}] };
  const message = fromJson(ExportExchangeResponseSchema, { session });
  expect(printMessage(ExportExchangeResponseSchema, message)).toBe(
    '{"session":{"sessionId":"s","sequenceNumber":2,"isComplete":false,"createdAt":"2026-01-01T00:00:00Z",' +
      '"lastResults":[{"summary":"","success":false,"output":""}],"readFileRequests":[]}}',
  );
  const request = fromJson(ImportExchangeRequestSchema, { session: { isComplete: true }, workDir: "/w" });
  expect(printMessage(ImportExchangeRequestSchema, request)).toBe(
    '{"session":{"isComplete":true,"lastResults":[],"readFileRequests":[]},"work_dir":"/w"}',
  );
});

test.each([true, false])("both forms are read, for either printed form (camel case: %s)", (camelCase) => {
  const desc = buildMessage(fields, camelCase);
  const read = (text: string, lenient = false) => {
    const message = reflect(desc);
    readMessageJson(message, text, { lenient });
    return toJson(desc, message.message, { useProtoFieldName: true });
  };
  expect(read('{"runId":"r","work_dir":"w"}')).toEqual({ run_id: "r", work_dir: "w" });
  expect(read('{"RUNID":"r","WORK_DIR":"w"}', true)).toEqual({ run_id: "r", work_dir: "w" });
  expect(() => read('{"runId":"r","run_id":"r"}')).toThrow("invalid request body: run_id: given twice");
  expect(() => read('{"runid":"r"}')).toThrow("invalid request body: runid: unknown key");
});
