// Prepares Protobuf messages for the log: replaces all fields that the contract marks with `debug_redact`, at any depth. The
// contract decides, so a secret field is hidden from the day it is declared.

import { createRegistry, type DescField, type Message, type Registry } from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { file_runnel_v1_auth } from "#gen/runnel/v1/auth_pb.js";
import { file_runnel_v1_auth_service } from "#gen/runnel/v1/auth_service_pb.js";
import { file_runnel_v1_message } from "#gen/runnel/v1/message_pb.js";
import { file_runnel_v1_provider_service } from "#gen/runnel/v1/provider_service_pb.js";
import { file_runnel_v1_result } from "#gen/runnel/v1/result_pb.js";
import { file_runnel_v1_run } from "#gen/runnel/v1/run_pb.js";
import { file_runnel_v1_run_service } from "#gen/runnel/v1/run_service_pb.js";
import { file_runnel_v1_session } from "#gen/runnel/v1/session_pb.js";
import { file_runnel_v1_session_service } from "#gen/runnel/v1/session_service_pb.js";
import { file_runnel_v1_system_service } from "#gen/runnel/v1/system_service_pb.js";
import { file_runnel_v1_usage } from "#gen/runnel/v1/usage_pb.js";
import { redacted } from "../base/hide-credentials.ts";

/** Messages of files that are not listed here are hidden completely. */
const contract = createRegistry(
  file_runnel_v1_auth,
  file_runnel_v1_auth_service,
  file_runnel_v1_message,
  file_runnel_v1_provider_service,
  file_runnel_v1_result,
  file_runnel_v1_run,
  file_runnel_v1_run_service,
  file_runnel_v1_session,
  file_runnel_v1_session_service,
  file_runnel_v1_system_service,
  file_runnel_v1_usage,
);

/** Returns the set fields under their names in the contract. Returns `[redacted]` for an unlisted message. */
export function redactMessage(message: Message, registry: Registry = contract): unknown {
  const schema = registry.getMessage(message.$typeName);
  return schema === undefined ? redacted : redactFields(reflect(schema, message, false));
}

function redactFields(message: ReflectMessage): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (message.isSet(field)) {
      shown[field.name] = field.proto.options?.debugRedact === true ? redacted : showField(message, field);
    }
  }
  return shown;
}

function showField(message: ReflectMessage, field: DescField): unknown {
  switch (field.fieldKind) {
    case "message":
      return redactFields(message.get(field));
    case "list":
      return Array.from(message.get(field), showValue);
    case "map":
      return Object.fromEntries(Array.from(message.get(field), ([key, value]) => [String(key), showValue(value)]));
    case "scalar":
    case "enum":
      return showValue(message.get(field));
    default:
      return field satisfies never;
  }
}

/** Bytes are content; the log shows only their number. */
function showValue(value: unknown): unknown {
  if (isReflectMessage(value)) {
    return redactFields(value);
  }
  if (value instanceof Uint8Array) {
    return `${value.length} bytes`;
  }
  return typeof value === "bigint" ? String(value) : value;
}
