// Erases the content of a stored result. Works by reflection, so that a field added later is erased unless it is listed here.
// The type, figures, times, names of tools and codes of failures stay.

import { createHash } from "node:crypto";
import { type DescField, getOption, ScalarType, toBinary } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { json } from "#gen/runnel/options/v1/options_pb.js";
import { ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import {
  ApprovalRequestedSchema,
  ExtensionSchema,
  RunFailedSchema,
  RunResultSchema,
  ToolCallCompletedSchema,
  ToolCallStartedSchema,
} from "#gen/runnel/v1/result_pb.js";
import { decodeResult } from "./result.ts";

const kept: ReadonlySet<DescField> = new Set([
  RunResultSchema.field.runId,
  RunResultSchema.field.usage,
  ToolCallSchema.field.name,
  ToolCallStartedSchema.field.toolName,
  ToolCallCompletedSchema.field.toolName,
  ApprovalRequestedSchema.field.toolName,
  RunFailedSchema.field.code,
  ExtensionSchema.field.type,
]);

/** Returns the bytes to store instead; undefined when the result was purged before. Equal bytes give equal results. */
export function purgeResult(bytes: Uint8Array): Uint8Array | undefined {
  const result = decodeResult(bytes);
  if (result.purgedSha256 !== "") {
    return undefined;
  }
  eraseTexts(reflect(RunResultSchema, result));
  result.purgedSha256 = createHash("sha256").update(bytes).digest("hex");
  return toBinary(RunResultSchema, result);
}

function eraseTexts(message: ReflectMessage): void {
  // This version cannot tell text from figures in unknown fields.
  message.setUnknown([]);
  for (const field of message.fields) {
    if (message.isSet(field) && !kept.has(field)) {
      eraseField(message, field);
    }
  }
}

function eraseField(message: ReflectMessage, field: DescField): void {
  switch (field.fieldKind) {
    case "message":
      eraseTexts(message.get(field));
      return;
    case "scalar":
      if (field.scalar === ScalarType.STRING) {
        // Readers parse JSON that is present, so it becomes `{}`. A present text stays present, though empty: it shows that one
        // existed.
        message.set(field, getOption(field, json).raw ? "{}" : "");
      } else if (field.scalar === ScalarType.BYTES) {
        message.set(field, new Uint8Array());
      }
      return;
    case "list":
      eraseList(message, field);
      return;
    case "map":
      message.clear(field);
      return;
    case "enum":
      return;
    default:
      field satisfies never;
  }
}

function eraseList(message: ReflectMessage, field: DescField & { fieldKind: "list" }): void {
  if (field.listKind === "message") {
    for (const item of message.get(field)) {
      eraseTexts(item as ReflectMessage);
    }
  } else if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) {
    message.clear(field);
  }
}
