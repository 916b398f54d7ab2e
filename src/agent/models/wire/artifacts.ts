// Reads the files that a model makes, such as images: bytes in base64, or the URL of a file that the provider keeps.

import { contentBytesMax, measureContent } from "../../../engine/log/content.ts";
import { kindOf, type MediaKind, sniffMediaType } from "../../../platform/base/media-type.ts";
import type { ModelArtifact } from "../model.ts";
import { textOf } from "./frame.ts";

/** The maximum of a response. Models make a few images; a faulty server could send them without end. */
const artifactsMax = 64;

const urlCharsMax = 8_192;
const idCharsMax = 256;

/** A file as a provider sends it. The values may be anything. */
interface SentFile {
  readonly id?: unknown;
  readonly mediaType?: unknown;
  readonly base64: unknown;
}

/** The artifacts of one response. */
export class Artifacts {
  readonly #known = new Set<string>();

  /**
   * Returns the artifact of bytes in base64. Returns undefined for an empty or invalid value, for bytes that the response has given
   * before, and beyond the maximum.
   */
  addBytes({ id, mediaType, base64 }: SentFile): ModelArtifact | undefined {
    const content = Buffer.from(textOf(base64), "base64");
    const { sizeBytes, sha256 } = measureContent(content);
    if (sizeBytes === 0 || !this.#isNew(sha256)) {
      return undefined;
    }
    const type = mediaTypeOf(mediaType) ?? sniffMediaType(content) ?? "application/octet-stream";
    return {
      ...{ type: "artifact", id: readId(id), kind: kindOf(type), mediaType: type, sizeBytes, sha256 },
      content: sizeBytes > contentBytesMax ? undefined : content,
      url: undefined,
    };
  }

  /** Returns the artifact of a URL, which may be a data URL; undefined for any other value, and where `addBytes` returns undefined. */
  addUrl(value: unknown, sent: { readonly mediaType?: unknown; readonly kind?: MediaKind }): ModelArtifact | undefined {
    const url = textOf(value);
    if (url.startsWith("data:")) {
      const [head = "", base64] = url.slice("data:".length).split(",", 2);
      return head.endsWith(";base64")
        ? this.addBytes({ mediaType: head.slice(0, -";base64".length), base64 })
        : undefined;
    }
    if (url.length > urlCharsMax || !URL.canParse(url) || !this.#isNew(url)) {
      return undefined;
    }
    const mediaType = mediaTypeOf(sent.mediaType);
    return {
      ...{ type: "artifact", id: "", kind: sent.kind ?? kindOf(mediaType ?? ""), mediaType },
      ...{ sizeBytes: undefined, sha256: undefined, content: undefined, url: url.toWellFormed() },
    };
  }

  #isNew(name: string): boolean {
    if (this.#known.size === artifactsMax || this.#known.has(name)) {
      return false;
    }
    this.#known.add(name);
    return true;
  }
}

/** Parameters stay: they say how to play a recording. Example: `audio/L16;codec=pcm;rate=24000`. */
function mediaTypeOf(value: unknown): string | undefined {
  return typeof value === "string" &&
    value.length <= typeCharsMax &&
    /^\w+\/[\w.+-]+(?:; ?[\w-]+=[\w.+-]+)*$/.test(value)
    ? value
    : undefined;
}

const typeCharsMax = 128;

/** Returns the id of a provider, or an empty text for an unusable one. */
function readId(id: unknown): string {
  const text = textOf(id);
  return text.length <= idCharsMax && /^[\w.:-]+$/.test(text) ? text : "";
}
