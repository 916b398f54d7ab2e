// google.api.HttpBody: a body of raw bytes in some media type, passed through unchanged. It may be the whole request or
// response, or the one field that the rule names, and nothing else.

import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type HttpBody, HttpBodySchema } from "#gen/google/api/httpbody_pb.js";
import { openMessageField } from "../../platform/base/json/field-path.ts";
import { isHttpBody } from "../../platform/base/json/shape.ts";

/** The place of a raw body in a message: the whole message, or one field. */
export type HttpBodyPlace = "whole" | (DescField & { readonly fieldKind: "message" });

/**
 * Returns the place of the raw body, or undefined when the body is JSON. `field` is the field in the rule; undefined means the
 * whole message.
 */
export function findHttpBodyPlace(desc: DescMessage, field: DescField | undefined): HttpBodyPlace | undefined {
  if (field === undefined) {
    return isHttpBody(desc) ? "whole" : undefined;
  }
  return field.fieldKind === "message" && isHttpBody(field.message) ? field : undefined;
}

/** Writes a raw body into its place in the message. */
export function fillHttpBody(
  message: ReflectMessage,
  place: HttpBodyPlace,
  { contentType, data }: { readonly contentType: string; readonly data: Uint8Array },
): void {
  const body = place === "whole" ? message : openMessageField(message, place);
  body.set(HttpBodySchema.field.contentType, contentType);
  body.set(HttpBodySchema.field.data, data);
}

/** Returns the raw body in its place, octets unless it names a type. An unset field is an empty body. */
export function readHttpBody(desc: DescMessage, output: Message, place: HttpBodyPlace): HttpBody {
  const message = reflect(desc, output, false);
  const body = (place === "whole" ? message : message.get(place)).message as HttpBody;
  return { ...body, contentType: body.contentType || "application/octet-stream" };
}
