// Messages of the contract in the plain form of `Surface`. Independent of the gateway's own JSON, so that the two check each
// other.

import { type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type Timestamp, TimestampSchema, timestampDate } from "@bufbuild/protobuf/wkt";
import { event as eventOption, json, result as resultOption } from "#gen/runnel/options/v1/options_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type StreamSessionResponse, StreamSessionResponseSchema } from "#gen/runnel/v1/session_service_pb.js";
import type { Plain, Result, SessionEvent } from "./surface.ts";

export function plain<T>(desc: DescMessage, message: Message): T {
  return plainMessage(reflect(desc, message)) as T;
}

/** Parses the JSON of the REST surface: only times have more than one spelling. */
export function plainJson<T>(text: string): T {
  return JSON.parse(text, (key, value) =>
    /(^created_at|_time)$/.test(key) && typeof value === "string" ? new Date(value).toISOString() : value,
  ) as T;
}

export function plainResult(result: RunResult): Result {
  const field = memberField(RunResultSchema.fields, result.payload.case);
  const { sequence, usage, ...rest } = plain<Result & Plain>(RunResultSchema, result);
  return { sequence, usage, type: getOption(field, resultOption).name, payload: rest[field.name] as Plain };
}

/** Returns nothing for a message that only keeps the stream alive. */
export function plainEvents(message: StreamSessionResponse): SessionEvent[] {
  if (message.event.case === undefined) {
    return [];
  }
  const field = memberField(StreamSessionResponseSchema.fields, message.event.case);
  return [{ id: message.id, type: getOption(field, eventOption), payload: plain(field.message, message.event.value) }];
}

function memberField(fields: readonly DescField[], name: string | undefined): DescField & { fieldKind: "message" } {
  const field = fields.find((candidate) => candidate.localName === name);
  if (field?.fieldKind !== "message") {
    throw new Error(`no member ${name}`);
  }
  return field;
}

function plainMessage(message: ReflectMessage): Plain {
  const shown = message.fields.filter((field) => message.isSet(field) || getOption(field, json).emitEmpty);
  return Object.fromEntries(shown.map((field) => [field.name, plainField(message, field)]));
}

function plainField(message: ReflectMessage, field: DescField): unknown {
  const value: unknown = message.get(field);
  if (field.fieldKind === "list") {
    return Array.from(value as Iterable<unknown>, (item) => plainValue(field, item));
  }
  return plainValue(field, value);
}

function plainValue(field: DescField, value: unknown): unknown {
  if (field.enum !== undefined) {
    return field.enum.value[value as number]?.localName.toLowerCase();
  }
  if (field.message !== undefined) {
    return plainChild(value as ReflectMessage);
  }
  if (typeof value === "bigint") {
    return Number(value);
  }
  return getOption(field, json).raw ? JSON.parse(String(value)) : value;
}

function plainChild(child: ReflectMessage): unknown {
  if (child.desc.typeName !== TimestampSchema.typeName) {
    return plainMessage(child);
  }
  return timestampDate(child.message as Timestamp).toISOString();
}
