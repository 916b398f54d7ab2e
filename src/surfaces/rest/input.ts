// What a request says, as the message that its method takes: body, then headers, query and path, where what comes later
// wins if two may say the same. And what a handler may want to know beside it.

import { create, type DescField, getOption, toBinary } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior } from "#gen/google/api/field_behavior_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { readFieldJson, readMessageJson } from "../../platform/base/json/read.ts";
import type { RestCallNotes } from "../../platform/base/rest-call.ts";
import { assertJsonType, assertUncompressed, decodeBody, readBody } from "./body.ts";
import { fillHttpBody } from "./http-body.ts";
import { assignHeaders, assignPath, assignQuery } from "./params.ts";
import type { RestRequest } from "./respond.ts";
import { type Binding, bindText } from "./rule.ts";
import type { Target } from "./target.ts";
import { decodeText, isPlainText } from "./text-body.ts";

export interface InputSource {
  readonly query: string;
  readonly variables: ReadonlyMap<string, string>;
  /** The body, when it was already read. */
  readonly body: Uint8Array | undefined;
  readonly bodyBytesMax: number;
}

export interface Input {
  readonly message: Uint8Array;
  readonly notes: RestCallNotes;
}

/** Throws what the caller did wrong, except for what the handler of such a method has to say itself. */
export async function readInput(target: Target, request: RestRequest, source: InputSource): Promise<Input> {
  const { input } = target.method;
  let message = reflect(input);
  const lastEventId = String(request.headers["last-event-id"] ?? "");
  const { method: httpMethod = "", url = "" } = request;
  let notes: RestCallNotes = { httpMethod, target: url, ...(lastEventId !== "" && { isReconnect: true }) };
  let binding: Binding = target;
  if (target.body.kind !== "none") {
    const rawBody = source.body ?? (await readBody(request, source.bodyBytesMax));
    const textField = findTextField(target, request);
    binding = textField === undefined ? target : bindText(target, textField);
    const inputFault = fillBody(message, target, textField, request, rawBody);
    if (inputFault !== undefined) {
      // Half of a body would look like a whole one.
      message = reflect(input);
    }
    notes = { ...notes, rawBody, ...(inputFault && { inputFault }) };
  }
  assignHeaders(message, target, request.headers);
  assignQuery(message, binding, source.query, { lastEventId, lenient: target.profile.lenient });
  assignPath(message, target, source.variables);
  return { message: toBinary(input, message.message), notes };
}

/** The field that the body fills as it is; undefined when it is to be read as something else. */
function findTextField({ textRequest }: Target, request: RestRequest): DescField | undefined {
  return textRequest !== undefined && isPlainText(request.headers["content-type"] ?? "") ? textRequest : undefined;
}

/** Returns the fault of a body that cannot be read, where that is for the handler to tell. */
function fillBody(
  message: ReflectMessage,
  target: Target,
  textField: DescField | undefined,
  request: RestRequest,
  bytes: Uint8Array,
): Fault | undefined {
  const { body, profile, requestBytes, leavesInputFaults } = target;
  if (body.kind === "whole" && body.optional && bytes.byteLength === 0) {
    return undefined;
  }
  assertUncompressed(request);
  if (requestBytes !== undefined) {
    fillHttpBody(message, requestBytes, { contentType: request.headers["content-type"] ?? "", data: bytes });
    return undefined;
  }
  if (!profile.lenient && textField === undefined) {
    assertJsonType(request, { takesText: target.textRequest !== undefined });
  }
  try {
    if (textField === undefined) {
      readJson(message, target, bytes, request.method);
    } else {
      message.set(textField, decodeText(textField.name, bytes));
    }
    return undefined;
  } catch (error) {
    if (leavesInputFaults && error instanceof Fault) {
      return error;
    }
    throw error;
  }
}

function readJson(
  message: ReflectMessage,
  { body, profile }: Target,
  bytes: Uint8Array,
  httpMethod: string | undefined,
): void {
  const text = decodeBody(bytes, profile.lenient);
  if (body.kind === "field") {
    const given = readFieldJson(message, body.field, text, profile);
    fillUpdateMask(message, httpMethod === "PUT" ? ["*"] : given.filter(isChangeable).map(({ name }) => name));
  } else {
    readMessageJson(message, text, profile);
  }
}

/** A caller may send back a resource that it has read: what the service sets, and the id, change nothing (AIP-203). */
function isChangeable(field: DescField): boolean {
  const behaviors = getOption(field, field_behavior);
  return !behaviors.includes(FieldBehavior.OUTPUT_ONLY) && !behaviors.includes(FieldBehavior.IDENTIFIER);
}

/** PATCH changes the fields that its body has, and PUT all of them; the query may say otherwise. */
function fillUpdateMask(message: ReflectMessage, paths: readonly string[]): void {
  const mask = message.desc.field.updateMask;
  if (mask?.message?.typeName === FieldMaskSchema.typeName) {
    message.set(mask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths: [...paths] })));
  }
}
