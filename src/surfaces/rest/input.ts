// Reads a request as the input message of its method: body, then headers, query and path. A later source overrides an earlier
// one where both may set a field. Also collects the notes for the handler.

import { create, type DescField, getOption, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior } from "#gen/google/api/field_behavior_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { readFieldJson, readMessageJson } from "../../platform/base/json/read.ts";
import type { RestCallNotes } from "../../platform/base/rest-call.ts";
import { assertJsonType, assertUncompressed, decodeBody } from "./body.ts";
import { fillHttpBody } from "./http-body.ts";
import { assignHeaders, assignPath, assignQuery } from "./params.ts";
import type { RestRequest } from "./respond.ts";
import { type Binding, bindText } from "./rule.ts";
import type { Target } from "./target.ts";
import { decodeText, isPlainText } from "./text-body.ts";

/** The parts of a request that the router and the server have already read. */
export interface InputSource {
  readonly query: string;
  readonly variables: ReadonlyMap<string, string>;
  /** Undefined for an empty body. */
  readonly body: Uint8Array | undefined;
}

/** The input message, and the notes for the handler. */
export interface Input {
  readonly message: Message;
  readonly notes: RestCallNotes;
}

/** Reads the input of a call. Throws the fault of an invalid request, except body faults that the handler reports itself. */
export function readInput(target: Target, request: RestRequest, source: InputSource): Input {
  const { input } = target.method;
  let message = reflect(input);
  const lastEventId = String(request.headers["last-event-id"] ?? "");
  const { method: httpMethod = "", url = "" } = request;
  let notes: RestCallNotes = { httpMethod, target: url, ...(lastEventId !== "" && { isReconnect: true }) };
  let binding: Binding = target;
  if (target.body.kind !== "none") {
    const rawBody = source.body ?? new Uint8Array();
    const textField = findTextField(target, request);
    binding = textField === undefined ? target : bindText(target, textField);
    const inputFault = fillBody(message, target, textField, request, rawBody);
    if (inputFault !== undefined) {
      // Cleared, because a partly read body would look like a complete one.
      message = reflect(input);
    }
    notes = { ...notes, rawBody, ...(inputFault && { inputFault }) };
  }
  assignHeaders(message, target, request.headers);
  assignQuery(message, binding, source.query, { lastEventId, lenient: target.profile.lenient });
  assignPath(message, target, source.variables);
  return { message: message.message, notes };
}

/** Returns the field that a plain-text body fills. Undefined when the body has another form. */
function findTextField({ textRequest }: Target, request: RestRequest): DescField | undefined {
  return textRequest !== undefined && isPlainText(request.headers["content-type"] ?? "") ? textRequest : undefined;
}

/** Reads the body into the message. Returns the fault of an invalid body when the handler reports it, otherwise throws it. */
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
    const takesText = target.textRequest !== undefined;
    assertJsonType(request, { takesText, takesCurl: !takesText });
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
    // A body that can add nothing is read strictly: a lenient reader would accept a signed body that was meant for another call.
    const addsNothing = body.kind === "whole" && body.optional;
    readMessageJson(message, text, { lenient: profile.lenient && !addsNothing });
  }
}

/**
 * Whether a caller may change a field. A caller may send back a resource that it has read: its id and the fields that the
 * service sets have no effect (AIP-203).
 */
function isChangeable(field: DescField): boolean {
  const behaviors = getOption(field, field_behavior);
  return !behaviors.includes(FieldBehavior.OUTPUT_ONLY) && !behaviors.includes(FieldBehavior.IDENTIFIER);
}

/** Sets the update mask. PATCH changes the fields in its body, and PUT all of them; the query may override both. */
function fillUpdateMask(message: ReflectMessage, paths: readonly string[]): void {
  const mask = message.desc.field.updateMask;
  if (mask?.message?.typeName === FieldMaskSchema.typeName) {
    message.set(mask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths: [...paths] })));
  }
}
