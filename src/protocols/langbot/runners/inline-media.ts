// Images and files that messages contain as base64. They are stored as artifacts. The stored message refers to them: the same
// elements, with the members of an ArtifactRef instead of the data.

import { createHash } from "node:crypto";
import { decodeInline, type Inline, isDataUrl } from "../../../agent/models/media/inline.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import { type JsonObject, memberOf, parseFreeObject, textMember } from "../../../platform/base/json/free.ts";
import { compactJson, type JsonMember, type JsonNode } from "../../../platform/base/json/text.ts";
import { sniffMediaType } from "../../../platform/base/media-type.ts";
import { labelCharsMax } from "./results/members.ts";

/** The scheme of an artifact's URL: `artifact:<id>`. Elements have the id as a URL, since SDKs drop unknown members. */
export const artifactScheme = "artifact:";

/** An image or a file of a message. */
export interface InlineMedia {
  readonly artifactId: string;
  readonly artifactType: "image" | "file";
  readonly mimeType: string | undefined;
  readonly name: string | undefined;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly content: Uint8Array;
}

/** Whether an element or attachment is an image, by its own words: its type, its artifact type or its media type. */
export function isImageElement(words: readonly (string | undefined)[]): boolean {
  return words.some((word) => word?.startsWith("image"));
}

/** Options of a MediaTaker. */
export interface TakeOptions {
  readonly newId: () => string;
  /** The sender, as in an ArtifactRef. */
  readonly source: "event" | "runner";
}

/** Takes the media out of the elements of one message. Equal bytes become one artifact. */
export class MediaTaker {
  readonly #options: TakeOptions;
  readonly #taken = new Map<string, InlineMedia>();

  constructor(options: TakeOptions) {
    this.#options = options;
  }

  get media(): readonly InlineMedia[] {
    return [...this.#taken.values()];
  }

  /**
   * Returns the element or attachment on one line, with a reference instead of data. Throws Fault INVALID_ARGUMENT, which names
   * the field, when the data is not base64.
   */
  takeElement(json: string, { field, isAttachment = false }: { field: string; isAttachment?: boolean }): string {
    return this.#rewrite(json, parseFreeObject(json), isAttachment, (key) => {
      throw invalidField(`${field}.${key}`, "is neither base64 nor a data URL with base64");
    });
  }

  /** Returns the message with references in its elements and attachments. Data that is not base64 is left out. */
  takeMessage(json: string): string {
    const message = parseFreeObject(json);
    return printObject(
      message.members.map((member): Printed => {
        const { key, value } = member;
        const isList = (key.value === "content" || key.value === "attachments") && value.kind === "array";
        return isList
          ? [key.value, this.#takeList(json, value.items, key.value === "attachments")]
          : printMember(json, member);
      }),
    );
  }

  #takeList(json: string, items: readonly JsonNode[], isAttachment: boolean): string {
    const printed = items.map((item) =>
      item.kind === "object" ? this.#rewrite(json, item, isAttachment, () => undefined) : compactJson(json, item),
    );
    return `[${printed.join(",")}]`;
  }

  /** Calls `onBad` for data that is not base64. */
  #rewrite(json: string, element: JsonObject, isAttachment: boolean, onBad: (key: string) => undefined): string {
    const inline = element.members.filter((member) => isInline(member, isAttachment));
    const found = inline
      .map(({ key, value }) => decodeInline(textOf(value)) ?? onBad(key.value))
      .find((decoded) => decoded !== undefined);
    const reference = found === undefined ? [] : refer(this.#keep(element, found), this.#options.source, isAttachment);
    const replaced = new Set([...inline.map(({ key }) => key.value), ...reference.map(([key]) => key)]);
    const kept = element.members.filter(({ key }) => !replaced.has(key.value));
    return printObject([...kept.map((member) => printMember(json, member)), ...reference]);
  }

  #keep(element: JsonObject, { bytes: content, mediaType: declared }: Inline): InlineMedia {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const known = this.#taken.get(sha256);
    if (known !== undefined) {
      return known;
    }
    const mimeType = sniffMediaType(content) ?? declared ?? stringOf(element, "mime_type");
    const words = [stringOf(element, "type"), stringOf(element, "artifact_type"), mimeType];
    const media: InlineMedia = {
      artifactId: this.#options.newId(),
      artifactType: isImageElement(words) ? "image" : "file",
      mimeType: mimeType?.slice(0, labelCharsMax),
      name: (stringOf(element, "file_name") ?? stringOf(element, "name"))?.slice(0, labelCharsMax).toWellFormed(),
      sizeBytes: content.length,
      sha256,
      content,
    };
    this.#taken.set(sha256, media);
    return media;
  }
}

function refer(media: InlineMedia, source: string, isAttachment: boolean): Printed[] {
  const { artifactId, artifactType, mimeType, name, sizeBytes } = media;
  const url = JSON.stringify(artifactScheme + artifactId);
  const place: Printed = artifactType === "image" ? ["image_url", `{"url":${url}}`] : ["file_url", url];
  return [
    ["artifact_id", JSON.stringify(artifactId)],
    ["artifact_type", JSON.stringify(artifactType)],
    ...(mimeType === undefined ? [] : [["mime_type", JSON.stringify(mimeType)] as const]),
    ...(name === undefined ? [] : [["name", JSON.stringify(name)] as const]),
    ["size", String(sizeBytes)],
    ["source", JSON.stringify(source)],
    // Attachments are ArtifactRefs: every SDK knows their id.
    ...(isAttachment ? [] : [place]),
  ];
}

/**
 * Whether the member contains data: `…_base64`, the `content` of an attachment, or a data URL, alone or as the `url` of an
 * object.
 */
function isInline({ key, value }: JsonMember, isAttachment: boolean): boolean {
  const text = textOf(value);
  const isData = key.value.endsWith("_base64") || (isAttachment && key.value === "content");
  return text !== "" && (isData || isDataUrl(text));
}

function textOf(value: JsonNode): string {
  const text = value.kind === "object" ? memberOf(value, "url") : value;
  return text?.kind === "string" ? text.value : "";
}

function stringOf(element: JsonObject, key: string): string | undefined {
  return textMember(element, key) || undefined;
}

/** A key and the JSON of its value. */
type Printed = readonly [key: string, json: string];

function printMember(json: string, { key, value }: JsonMember): Printed {
  return [key.value, compactJson(json, value)];
}

function printObject(members: readonly Printed[]): string {
  return `{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
}
