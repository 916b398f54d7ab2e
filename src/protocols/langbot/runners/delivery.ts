// How a runner's messages are delivered. The binding decides it when the run starts; for chunks, the manifest decides too.

import { type Binding, ChunkContent } from "#gen/runnel/runner/v1/binding_pb.js";
import type { RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { memberOf, parseFreeObject } from "../../../platform/base/json/free.ts";
import type { Grant } from "./grant.ts";

type Delivery = Grant["delivery"];

/** Returns the delivery of a run's messages. */
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

/** Returns `metadata.chunk_content` of a manifest. Undefined when it is missing, `null` when it is not a string. */
export function statedChunkContent({ metadata }: RunnerManifest): string | null | undefined {
  const node = metadata === undefined ? undefined : memberOf(parseFreeObject(metadata), "chunk_content");
  return node === undefined || node.kind === "string" ? node?.value : null;
}

/** Whether the word is a valid `chunk_content`. */
export function isChunkContent(word: string | null | undefined): word is NonNullable<Delivery["chunkContent"]> {
  return word === "snapshot" || word === "increment";
}
