// The content of an artifact: how much of it a log may have, and how its entry describes it.

import { createHash } from "node:crypto";

/** The maximum bytes of content in one result. */
export const contentBytesMax = 1_048_576;

/** The size and the hash of a content. */
export interface ContentFacts {
  readonly sizeBytes: number;
  /** In lower-case hex. */
  readonly sha256: string;
}

/** Returns the facts that an artifact states of its content. */
export function measureContent(content: Uint8Array): ContentFacts {
  return { sizeBytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
}
