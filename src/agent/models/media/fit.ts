// Fits a request to its model. Placeholders replace images and files that the model does not read or that exceed the request's
// limits. The newest items get room first, so a conversation with many images stays usable.

import { kindOf, sniffMediaType } from "../../../platform/base/media-type.ts";
import { mediaTypesOf } from "../catalogue.ts";
import type { Model, ModelContent, ModelMedia, ModelMessage, ModelRequest, ModelText } from "../model.ts";
import { describeMedia, joinText, placeholder } from "./placeholder.ts";
import { Room } from "./room.ts";

/** The model, and how its images and files are loaded. */
export interface FitOptions {
  readonly model: Pick<Model, "provider" | "name" | "takesMediaOfTools">;
  /** True when the provider loads images by URL itself, outside the operator's network. */
  readonly takesUrls: boolean;
  /** Returns the bytes behind a URL, or the reason why they are missing. Reads at most `bytesMax` bytes. */
  readonly load: (url: URL, bytesMax: number) => Promise<Uint8Array | string>;
}

/** Returns the request with placeholders for all media that the model cannot get. */
export async function fitRequest(request: ModelRequest, options: FitOptions): Promise<ModelRequest> {
  const room = new Room();
  const messages: ModelMessage[] = [];
  for (const message of request.messages.toReversed()) {
    messages.push(await fitMessage(message, options, room));
  }
  return { ...request, messages: messages.reverse() };
}

/** Replaces all images and files with placeholders that give the same reason. */
export function withoutMedia(request: ModelRequest, why: string): ModelRequest {
  const replace = (part: ModelContent): ModelContent => ("data" in part ? placeholder(describeMedia(part), why) : part);
  return {
    ...request,
    messages: request.messages.map((message) => withParts(message, partsOf(message)?.map(replace))),
  };
}

/** Returns whether the request has an image or a file. */
export function hasMedia({ messages }: ModelRequest): boolean {
  return messages.some((message) => partsOf(message)?.some((part) => "data" in part));
}

/** Returns why a model does not read this kind of media, or undefined when it may. `mediaType` is undefined before loading. */
export function whyUnread(
  model: Pick<Model, "provider" | "name">,
  type: ModelMedia["type"],
  mediaType: string | undefined,
): string | undefined {
  const reads = mediaTypesOf(model).filter((each) => kindOf(each) === type);
  if (reads.length === 0) {
    return `this model does not read ${plural(type)}`;
  }
  return mediaType === undefined || reads.includes(mediaType)
    ? undefined
    : `this model reads only ${plural(type)} of these types: ${reads.join(", ")}`;
}

function plural(kind: ModelMedia["type"]): string {
  return kind === "audio" ? kind : `${kind}s`;
}

async function fitMessage(message: ModelMessage, options: FitOptions, room: Room): Promise<ModelMessage> {
  const fitted: ModelContent[] = [];
  for (const part of (partsOf(message) ?? []).toReversed()) {
    fitted.push("data" in part ? await fitMedia(part, message.role, options, room) : part);
  }
  return withParts(message, partsOf(message) && fitted.reverse());
}

function partsOf(message: ModelMessage): readonly ModelContent[] | undefined {
  return message.role === "assistant" ? undefined : message.parts;
}

/** Sets the parts of a message. Parts that are all text become one text, because not every server accepts a list of parts. */
export function withParts(message: ModelMessage, parts: readonly ModelContent[] | undefined): ModelMessage {
  if (message.role === "assistant" || parts === undefined) {
    return message;
  }
  return { ...message, text: joinText(parts), parts: parts.some((part) => "data" in part) ? parts : undefined };
}

async function fitMedia(
  media: ModelMedia,
  role: ModelMessage["role"],
  options: FitOptions,
  room: Room,
): Promise<ModelMedia | ModelText> {
  const { model, takesUrls } = options;
  const why = whyUnloaded(model, media) ?? room.whyFull(0) ?? whyNotInTool(role, model);
  if (why !== undefined) {
    return placeholder(describeMedia(media), why);
  }
  if (media.data instanceof URL && takesUrls && media.type === "image") {
    room.take(0);
    return media;
  }
  const data = media.data instanceof URL ? await options.load(media.data, room.bytesMax) : media.data;
  if (typeof data === "string") {
    return placeholder(describeMedia(media), data);
  }
  return fitBytes(media, data, options, room);
}

/** Returns why the model does not read media, before its bytes are known. Behind the URL of a file may be a recording. */
function whyUnloaded(model: FitOptions["model"], { type, data }: ModelMedia): string | undefined {
  const why = whyUnread(model, type, undefined);
  return type === "file" && data instanceof URL && whyUnread(model, "audio", undefined) === undefined ? undefined : why;
}

function fitBytes(media: ModelMedia, data: Uint8Array, { model }: FitOptions, room: Room): ModelMedia | ModelText {
  const sniffed = sniffMediaType(data);
  const type = sniffed === undefined ? media.type : kindOf(sniffed);
  const mediaType = sniffed ?? media.mediaType;
  const why = room.whyFull(data.length) ?? whyUnread(model, type, sniffed ?? "");
  if (why !== undefined) {
    return placeholder({ type, name: media.name, mediaType, sizeBytes: data.length }, why);
  }
  room.take(data.length);
  return { type, name: media.name, mediaType, data };
}

function whyNotInTool(role: ModelMessage["role"], { takesMediaOfTools }: FitOptions["model"]): string | undefined {
  return role === "tool" && takesMediaOfTools !== true
    ? "this model accepts only text as the result of a tool"
    : undefined;
}
