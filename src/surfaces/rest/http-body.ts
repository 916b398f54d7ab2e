// google.api.HttpBody: a body that is no JSON but bytes of some media type, which pass through as they are. It may be the
// whole request or response, or the one field of it that the rule names; nowhere else.

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type HttpBody, HttpBodySchema } from "#gen/google/api/httpbody_pb.js";
import { openMessageField } from "../../platform/base/json/field-path.ts";
import { isHttpBody } from "../../platform/base/json/shape.ts";

/** Where the bytes of a body go in a message of this type, or come from; undefined when that body is JSON. */
export type HttpBodyPlace = "whole" | (DescField & { readonly fieldKind: "message" });

/** `field` is the one that the rule names; undefined means the whole message. */
export function findHttpBodyPlace(desc: DescMessage, field: DescField | undefined): HttpBodyPlace | undefined {
  if (field === undefined) {
    return isHttpBody(desc) ? "whole" : undefined;
  }
  return field.fieldKind === "message" && isHttpBody(field.message) ? field : undefined;
}

export function fillHttpBody(
  message: ReflectMessage,
  place: HttpBodyPlace,
  { contentType, data }: { readonly contentType: string; readonly data: Uint8Array },
): void {
  const body = place === "whole" ? message : openMessageField(message, place);
  body.set(HttpBodySchema.field.contentType, contentType);
  body.set(HttpBodySchema.field.data, data);
}

/** What is in the place; an empty body when nothing is. */
export function readHttpBody(message: ReflectMessage, place: HttpBodyPlace): HttpBody {
  const body = place === "whole" ? message : message.get(place);
  return body.message as HttpBody;
}
