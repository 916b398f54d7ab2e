// Artifacts that a run may read: those made by it or by other runs of its conversation, and those of their events. All others
// give RESOURCE_NOT_FOUND.

import { create } from "@bufbuild/protobuf";
import {
  type ArtifactMetadata,
  ArtifactMetadataSchema,
  type GetArtifactRequest,
  type ReadArtifactRequest,
  type ReadArtifactResponse,
  ReadArtifactResponseSchema,
} from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { pieceBytesMax } from "../runners/limits.ts";
import { conversationKey } from "../runners/scope.ts";
import { type ArtifactRow, findArtifact, readArtifactRange } from "../storage/artifact.ts";
import { type HostContext, type HostDeps, type HostRun, streamHostRun, withHostRun } from "./access.ts";
import { offsetOf } from "./byte-range.ts";
import { secondsOf } from "./conversation.ts";

/** The maximum bytes of one call. A runner reads the rest with further ranges. */
const readBytesMax = 10 * 1_048_576;

/** Returns the metadata of an artifact. Throws Fault RESOURCE_NOT_FOUND. */
export async function getArtifact(
  deps: HostDeps,
  context: HostContext,
  { runId, artifactId }: GetArtifactRequest,
): Promise<ArtifactMetadata> {
  const call = { runId, action: "artifact_metadata", needs: { api: "artifact_metadata" } } as const;
  return await withHostRun(deps, context, { ...call, resource: artifactId }, async (run) => {
    const row = await findArtifact(deps.db, readerOf(run, artifactId));
    if (row === undefined) {
      throw new Fault("RESOURCE_NOT_FOUND", "artifact not found");
    }
    return artifactToProto(run, row);
  });
}

/** Streams a range of an artifact's content. Throws Fault RESOURCE_NOT_FOUND also when it has no content. */
export function readArtifact(
  deps: HostDeps,
  context: HostContext,
  request: ReadArtifactRequest,
): AsyncGenerator<ReadArtifactResponse> {
  const { runId, artifactId } = request;
  const call = { runId, action: "artifact_read", needs: { api: "artifact_read" }, resource: artifactId } as const;
  return streamHostRun(deps, context, call, (run) => readPieces(deps, run, request));
}

/** Yields at least one piece. At or beyond the end it is empty. */
async function* readPieces(
  { db }: HostDeps,
  run: HostRun,
  { artifactId, offset: from, limit }: ReadArtifactRequest,
): AsyncGenerator<ReadArtifactResponse> {
  const reader = readerOf(run, artifactId);
  let offset = offsetOf(from);
  let leftBytes = bytesOf(limit);
  for (;;) {
    const range = await readArtifactRange(db, { ...reader, offset, bytesMax: Math.min(leftBytes, pieceBytesMax) });
    if (range === undefined) {
      throw new Fault("RESOURCE_NOT_FOUND", "artifact not found, or it has no content");
    }
    const { content, size_bytes, mime_type } = range;
    const hasMore = offset + content.length < size_bytes;
    yield create(ReadArtifactResponseSchema, {
      artifactId,
      ...(mime_type !== null && { mimeType: mime_type }),
      sizeBytes: BigInt(size_bytes),
      offset: BigInt(offset),
      content,
      hasMore,
    });
    offset += content.length;
    leftBytes -= content.length;
    if (!hasMore || leftBytes <= 0) {
      return;
    }
  }
}

function bytesOf(limit: bigint | undefined): number {
  if (limit !== undefined && limit <= 0n) {
    throw invalidField("limit", "leave it out, or give a number of bytes above 0");
  }
  return limit === undefined ? pieceBytesMax : Math.min(Number(limit), readBytesMax);
}

function readerOf({ runId, scope }: HostRun, artifactId: string) {
  return { client: scope.client, artifactId, runId, scope: conversationKey(scope) };
}

function artifactToProto({ scope: { conversationId } }: HostRun, row: ArtifactRow): ArtifactMetadata {
  return create(ArtifactMetadataSchema, {
    artifactId: row.artifact_id,
    artifactType: row.artifact_type,
    ...(row.mime_type !== null && { mimeType: row.mime_type }),
    ...(row.name !== null && { name: row.name }),
    ...(row.size_bytes !== null && { sizeBytes: BigInt(row.size_bytes) }),
    ...(row.sha256 !== null && { sha256: row.sha256 }),
    source: row.source,
    ...(row.scope !== null && conversationId !== undefined && { conversationId }),
    runId: row.run_id,
    ...(row.source === "runner" && { runnerId: row.runner_id }),
    createdAt: secondsOf(row.create_time),
    ...(row.expire_time !== null && { expiresAt: secondsOf(row.expire_time) }),
    metadata: row.metadata,
  });
}
