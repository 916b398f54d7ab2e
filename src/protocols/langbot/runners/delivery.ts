// How what a runner says is delivered: decided when its run starts, by the binding and, for chunks, by the manifest.

import { type Binding, ChunkContent } from "#gen/runnel/runner/v1/binding_pb.js";
import type { RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { memberOf, parseFreeObject } from "../../../platform/base/json/free.ts";
import type { Grant } from "./grant.ts";

type Delivery = Grant["delivery"];

export function deliveryOf(manifest: RunnerManifest, { deliveryPolicy }: Binding): Delivery {
  const max = Number(deliveryPolicy?.maxMessageSize ?? 0n);
  const bound = chunkContents[deliveryPolicy?.chunkContent ?? ChunkContent.UNSPECIFIED];
  const stated = statedChunkContent(manifest);
  return {
    streaming: deliveryPolicy?.enableStreaming !== false,
    reply: deliveryPolicy?.enableReply !== false,
    messageCharsMax: max > 0 ? max : undefined,
    chunkContent: bound ?? (isChunkContent(stated) ? stated : undefined),
  };
}

const chunkContents = {
  [ChunkContent.UNSPECIFIED]: undefined,
  [ChunkContent.SNAPSHOT]: "snapshot",
  [ChunkContent.INCREMENT]: "increment",
} as const satisfies Record<ChunkContent, Delivery["chunkContent"]>;

/** `metadata.chunk_content` of a manifest; undefined when it is missing, `null` when it is no text. */
export function statedChunkContent({ metadata }: RunnerManifest): string | null | undefined {
  const node = metadata === undefined ? undefined : memberOf(parseFreeObject(metadata), "chunk_content");
  return node === undefined || node.kind === "string" ? node?.value : null;
}

export function isChunkContent(word: string | null | undefined): word is NonNullable<Delivery["chunkContent"]> {
  return word === "snapshot" || word === "increment";
}
