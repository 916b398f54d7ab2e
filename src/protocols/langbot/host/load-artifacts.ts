// Loads the artifacts that messages refer to, as content for models. Only artifacts that the run may read are loaded. The
// newest come first, up to the limits of a request, so that a long conversation still loads.

import { whyUnread, withParts } from "../../../agent/models/media/fit.ts";
import { placeholder } from "../../../agent/models/media/placeholder.ts";
import { Room } from "../../../agent/models/media/room.ts";
import type { Model, ModelContent, ModelMessage } from "../../../agent/models/model.ts";
import type { Db } from "../../../platform/database/database.ts";
import { conversationKey } from "../runners/scope.ts";
import { findArtifact, readArtifactRange } from "../storage/artifact.ts";
import type { AskingRun } from "./account.ts";
import type { ArtifactPart, ReadPart } from "./content.ts";

/** The run that reads the artifacts, and the model that gets them. */
export interface LoadOptions {
  readonly db: Db;
  readonly run: AskingRun;
  readonly model: Pick<Model, "provider" | "name">;
}

/**
 * Returns the messages with their artifacts as content. A placeholder with the reason replaces an artifact that cannot be
 * loaded.
 */
export async function loadArtifacts(
  messages: readonly ModelMessage<ReadPart>[],
  options: LoadOptions,
): Promise<ModelMessage[]> {
  const room = new Room();
  const loaded: ModelMessage[] = [];
  for (const message of messages.toReversed()) {
    loaded.push(await loadMessage(message, options, room));
  }
  return loaded.reverse();
}

async function loadMessage(message: ModelMessage<ReadPart>, options: LoadOptions, room: Room): Promise<ModelMessage> {
  if (message.role === "assistant" || message.parts === undefined) {
    return message as ModelMessage;
  }
  const parts: ModelContent[] = [];
  for (const part of message.parts.toReversed()) {
    parts.push(part.type === "artifact" ? await loadArtifact(part, options, room) : part);
  }
  parts.reverse();
  return withParts({ ...message, parts }, parts);
}

async function loadArtifact(
  { artifactId, kind, name, url }: ArtifactPart,
  { db, run, model }: LoadOptions,
  room: Room,
): Promise<ModelContent> {
  const reader = { client: run.scope.client, artifactId, runId: run.runId, scope: conversationKey(run.scope) };
  const row = await findArtifact(db, reader);
  if (row === undefined) {
    return url === undefined
      ? placeholder({ type: kind, name }, "the artifact no longer exists, or belongs to another conversation")
      : { type: kind, name, mediaType: undefined, data: url };
  }
  const mediaType = row.mime_type ?? undefined;
  const type = mediaType?.startsWith("image/") ? "image" : kind;
  const described = { type, name: name ?? row.name ?? undefined, mediaType };
  const sizeBytes = row.size_bytes ?? 0;
  const why = whyUnread(model, type, undefined) ?? room.whyFull(sizeBytes);
  if (why !== undefined) {
    return placeholder({ ...described, sizeBytes }, why);
  }
  const range = await readArtifactRange(db, { ...reader, offset: 0, bytesMax: room.bytesMax });
  if (range === undefined) {
    return placeholder(described, "it has no content");
  }
  room.take(range.content.length);
  return { ...described, data: range.content };
}
