// Parses the content of runners' messages: text, and the elements and attachments of the LangBot protocol. Those are images and
// files, given as bytes, as a URL or as the id of an artifact. Elements of other types become placeholders.

import { decodeInline, isDataUrl } from "../../../agent/models/media/inline.ts";
import { mediaItemsMax } from "../../../agent/models/media/limits.ts";
import { type Described, placeholder } from "../../../agent/models/media/placeholder.ts";
import type { ModelContent, ModelMedia } from "../../../agent/models/model.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { ObjectText, withArticle } from "../../../platform/base/json/object-text.ts";
import type { JsonNode } from "../../../platform/base/json/text.ts";
import { artifactScheme, isImageElement } from "../runners/inline-media.ts";

/** A part whose content is an artifact. It is loaded later, if the run may read it. */
export interface ArtifactPart {
  readonly type: "artifact";
  readonly artifactId: string;
  readonly kind: ModelMedia["type"];
  readonly name: string | undefined;
  /** Another place of the content: platforms have ids of their own, which name no artifact. */
  readonly url: URL | undefined;
}

/** A part of a message, before its artifacts are loaded. */
export type ReadPart = ModelContent | ArtifactPart;

/** Returns the parts of a message, its attachments last. Throws Fault INVALID_ARGUMENT when a part is invalid. */
export function readContent(message: ObjectText): readonly ReadPart[] {
  const content = message.find("content");
  switch (content?.kind) {
    case undefined:
      return readAttachments(message, []);
    case "string":
      return readAttachments(message, [{ type: "text", text: content.value.toWellFormed() }]);
    case "array":
      return readAttachments(
        message,
        content.items.map((item, index) => readElement(message, item, `content[${index}]`)),
      );
    default:
      throw invalidField(
        `${message.path}.content`,
        `must be a string or a list of parts, not ${withArticle(content?.kind ?? "null")}`,
      );
  }
}

/** Appends the attachments. Platforms name an image both as a part and as an attachment; the model gets its artifact once. */
function readAttachments(message: ObjectText, parts: readonly ReadPart[]): readonly ReadPart[] {
  const named = new Set(parts.flatMap((part) => (part.type === "artifact" ? [part.artifactId] : [])));
  const attached = (message.findItems("attachments") ?? [])
    .map((item, index) => readElement(message, item, `attachments[${index}]`))
    .filter((part) => part.type !== "artifact" || !named.has(part.artifactId));
  return [...parts, ...attached];
}

function readElement(message: ObjectText, item: JsonNode, place: string): ReadPart {
  const element = new ObjectText(message.text, item, message.at(place));
  const type = element.findText("type");
  if (type === "text") {
    return { type: "text", text: element.findText("text") ?? "" };
  }
  const isAttachment = place.startsWith("attachments") || element.find("artifact_id") !== undefined;
  if (!isAttachment && type === undefined) {
    throw invalidField(`${element.path}.type`, "is missing: give a string that is not empty");
  }
  if (!isAttachment && !/^(image|file)/.test(type ?? "")) {
    const words = JSON.stringify(type?.slice(0, typeCharsMax));
    return placeholder({ type: "file" }, `models do not receive parts of type ${words}`);
  }
  const mediaType = element.findText("mime_type")?.toLowerCase();
  const name = element.findText("file_name") ?? element.findText("name");
  const kind = isImageElement([type, element.findText("artifact_type"), mediaType]) ? "image" : "file";
  const what: Described = { type: kind, name, mediaType };
  return readInline(element, what, isAttachment) ?? readReference(element, what);
}

function readReference(element: ObjectText, what: Described): ReadPart {
  const { type, name, mediaType } = what;
  const place = findUrl(element);
  const url = parseUrl(place);
  const named = place?.startsWith(artifactScheme) ? place.slice(artifactScheme.length) : undefined;
  const artifactId = element.findText("artifact_id") || named;
  if (artifactId) {
    return { type: "artifact", artifactId, kind: type, name, url };
  }
  if (url !== undefined) {
    return { type, name, mediaType, data: url };
  }
  return placeholder(what, place === undefined ? "it has no content" : "its URL is neither http nor https");
}

const typeCharsMax = 40;

/** The members that contain bytes as base64. */
const inlineKeys = ["image_base64", "file_base64"] as const;

function readInline(
  element: ObjectText,
  { type, name, mediaType }: Described,
  isAttachment: boolean,
): ModelMedia | undefined {
  const url = findUrl(element);
  const keys = isAttachment ? [...inlineKeys, "content"] : inlineKeys;
  const key = keys.find((each) => (element.findText(each) ?? "") !== "");
  const text = key === undefined ? url : element.findText(key);
  if (text === undefined || (key === undefined && !isDataUrl(text))) {
    return undefined;
  }
  const decoded = decodeInline(text);
  if (decoded === undefined) {
    throw invalidField(`${element.path}.${key ?? "url"}`, "is neither base64 nor a data URL with base64");
  }
  return { type, name, mediaType: decoded.mediaType ?? mediaType, data: decoded.bytes };
}

/**
 * Returns the URL of an element, given as `{"url": "https://…"}` or as a plain string. Undefined when it is missing or empty.
 */
function findUrl(element: ObjectText): string | undefined {
  const key = ["image_url", "file_url", "url"].find((each) => element.find(each) !== undefined);
  if (key === undefined) {
    return undefined;
  }
  const url = element.find(key)?.kind === "object" ? element.requireObject(key).findText("url") : element.findText(key);
  return url === "" ? undefined : url;
}

function parseUrl(text: string | undefined): URL | undefined {
  const url = URL.parse(text ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

/**
 * Throws Fault PAYLOAD_TOO_LARGE for more inline images and files than a request can carry. Others are left out, the oldest
 * first.
 */
export function assertFewInline(parts: readonly ReadPart[], field: string): void {
  const inline = parts.filter((part) => "data" in part && !(part.data instanceof URL)).length;
  if (inline > mediaItemsMax) {
    const description = `contains ${inline} images and files: send at most ${mediaItemsMax} of them, or refer to artifacts`;
    throw new Fault("PAYLOAD_TOO_LARGE", `invalid ${field}: ${description}`, { violations: [{ field, description }] });
  }
}
