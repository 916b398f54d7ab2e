// Writes the text that a model reads in place of an image or a file. Pure.

import type { ModelContent, ModelMedia, ModelText } from "../model.ts";

/** The facts that a placeholder may show. */
export interface Described {
  readonly type: ModelMedia["type"];
  readonly name?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly sizeBytes?: number | undefined;
  /** The host of the URL. Paths and queries are left out because they may hold secrets. */
  readonly host?: string | undefined;
}

/** Returns a text such as `[image "cat.png" (image/png, 12,345 bytes): this model does not read images]`. */
export function placeholder({ type, name, mediaType, sizeBytes, host }: Described, why: string): ModelText {
  const facts = [
    mediaType !== undefined && mediaTypePattern.test(mediaType) && mediaType,
    sizeBytes !== undefined && `${sizeBytes.toLocaleString("en-US")} bytes`,
    host,
  ].filter(Boolean);
  const words = [
    type,
    name !== undefined && JSON.stringify(name.slice(0, nameCharsMax)),
    facts.length > 0 && `(${facts.join(", ")})`,
  ];
  return { type: "placeholder", text: `[${words.filter(Boolean).join(" ")}: ${why}]` };
}

const nameCharsMax = 128;
const mediaTypePattern = /^[a-z]+\/[\w.+-]{1,100}$/i;

/** Returns the facts about an image or a file. */
export function describeMedia({ type, name, mediaType, data }: ModelMedia): Described {
  const what = { type, name, mediaType };
  return data instanceof URL ? { ...what, host: data.host } : { ...what, sizeBytes: data.length };
}

/** Joins the text parts of a content, with each placeholder on its own line. */
export function joinText(parts: readonly ModelContent[]): string {
  let text = "";
  let isPlaceholderLast = false;
  // Looking at the end of the text would copy the whole text for each part.
  let isAtLineStart = true;
  for (const part of parts) {
    if ("data" in part) {
      continue;
    }
    const isPlaceholder = part.type === "placeholder";
    const breaks: boolean = !isAtLineStart && (isPlaceholder || isPlaceholderLast);
    const added: string = `${breaks ? "\n" : ""}${part.text}`;
    text += added;
    isAtLineStart = added === "" ? isAtLineStart : added.endsWith("\n");
    isPlaceholderLast = isPlaceholder;
  }
  return text;
}
