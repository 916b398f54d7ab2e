// Reads a part of a message as content for a model.

import type { ContentElement } from "#gen/runnel/v1/message_pb.js";
import { kindOf, sniffMediaType } from "../../../platform/base/media-type.ts";
import type { ModelContent, ModelMedia } from "../model.ts";
import { decodeInline, type Inline, isDataUrl } from "./inline.ts";
import { placeholder } from "./placeholder.ts";

/** Returns the content of a part. A part that models cannot get becomes a placeholder with the reason. */
export function readElement(element: ContentElement): ModelContent {
  const { type, fileName: name } = element;
  const place = element.imageUrl ?? element.fileUrl;
  const inline = element.imageBase64 ?? element.fileBase64 ?? (place && isDataUrl(place) ? place : undefined);
  // A type of a runner's own may have a text alone.
  if (type === "text" || (element.text !== undefined && (inline ?? place) === undefined)) {
    return { type: "text", text: element.text ?? "" };
  }
  const kind = type.startsWith("image") ? "image" : "file";
  return inline === undefined ? readUrl(kind, name, place) : readBytes(kind, name, inline);
}

function readBytes(type: ModelMedia["type"], name: string | undefined, inline: string): ModelContent {
  const decoded = decodeInline(inline);
  return decoded === undefined
    ? placeholder({ type, name }, "it is neither base64 nor a data URL with base64")
    : { type: sayKind(type, decoded), name, mediaType: decoded.mediaType, data: decoded.bytes };
}

/** A part for files may hold a recording. */
function sayKind(type: ModelMedia["type"], { bytes, mediaType }: Inline): ModelMedia["type"] {
  const known = sniffMediaType(bytes) ?? mediaType;
  return type === "file" && known !== undefined && kindOf(known) === "audio" ? "audio" : type;
}

function readUrl(type: ModelMedia["type"], name: string | undefined, place: string | undefined): ModelContent {
  const url = URL.parse(place ?? "");
  return url !== null && /^https?:$/.test(url.protocol)
    ? { type, name, mediaType: undefined, data: url }
    : placeholder({ type, name }, place === undefined ? "it has no content" : "its URL is neither http nor https");
}
