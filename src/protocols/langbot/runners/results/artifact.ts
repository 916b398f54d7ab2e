// An artifact that a runner reports. Small content comes with it: it is checked here, and stored apart from the log.

import { create } from "@bufbuild/protobuf";
import { type ArtifactCreated, ArtifactCreatedSchema } from "#gen/runnel/v1/result_pb.js";
import { contentBytesMax, measureContent } from "../../../../engine/log/content.ts";
import { type Members, PayloadFault } from "./members.ts";

/** An artifact of a run. */
export interface NewArtifact {
  readonly artifactId: string;
  readonly type: string;
  readonly mimeType: string | undefined;
  readonly name: string | undefined;
  readonly sizeBytes: number | undefined;
  /** The hash of the content; without content, the hash that the runner reports. */
  readonly sha256: string | undefined;
  /** The metadata as a JSON object. */
  readonly metadata: string;
  readonly content: Uint8Array | undefined;
}

/** Parses an `artifact.created`. Throws PayloadFault when it is invalid or does not match its content. */
export function readArtifact(members: Members, newArtifactId: () => string): NewArtifact {
  const type = members.label("artifact_type");
  const artifactId = members.findLabel("artifact_id");
  const mimeType = members.findLabel("mime_type");
  const name = members.findLabel("name");
  const claimed = {
    sizeBytes: members.findInteger("size_bytes", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    sha256: readSha256(members),
  };
  const metadata = members.findJson("metadata") ?? "{}";
  const content = readContent(members);
  members.refuseOthers();
  const found = content === undefined ? claimed : checkContent(members, content, claimed);
  return { artifactId: artifactId ?? newArtifactId(), type, mimeType, name, ...found, metadata, content };
}

/** Returns the log entry of an artifact: everything except its content. */
export function loggedArtifact(artifact: NewArtifact): ArtifactCreated {
  const { artifactId, type, mimeType, name, sizeBytes, sha256, metadata } = artifact;
  return create(ArtifactCreatedSchema, {
    artifactType: type,
    artifactId,
    mimeType,
    name,
    sizeBytes: sizeBytes === undefined ? undefined : BigInt(sizeBytes),
    sha256,
    metadata: metadata === "{}" ? undefined : metadata,
  });
}

function readSha256(members: Members): string | undefined {
  const sha256 = members.findText("sha256");
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new PayloadFault(`${members.path}.sha256 is not a SHA-256: expected 64 hexadecimal digits`);
  }
  return sha256?.toLowerCase();
}

function readContent(members: Members): Uint8Array | undefined {
  const text = members.findText("content_base64");
  if (text === undefined) {
    return undefined;
  }
  const path = `${members.path}.content_base64`;
  // Groups of four, with the padding at the end. One character class, so that a long text is scanned once.
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new PayloadFault(`${path} is not base64: expected the standard alphabet with padding and no blanks`);
  }
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = (text.length / 4) * 3 - padding;
  if (bytes > contentBytesMax) {
    throw new PayloadFault(
      `payload_too_large: ${path} has ${bytes} bytes, maximum ${contentBytesMax}: store large content elsewhere`,
    );
  }
  return Buffer.from(text, "base64");
}

interface ContentClaim {
  readonly sizeBytes: number | undefined;
  readonly sha256: string | undefined;
}

function checkContent(members: Members, content: Uint8Array, claimed: ContentClaim): ContentClaim {
  const found = measureContent(content);
  if (claimed.sizeBytes !== undefined && claimed.sizeBytes !== found.sizeBytes) {
    throw new PayloadFault(
      `${members.path}.size_bytes is ${claimed.sizeBytes}, but the content has ${found.sizeBytes}`,
    );
  }
  if (claimed.sha256 !== undefined && claimed.sha256 !== found.sha256) {
    throw new PayloadFault(`${members.path}.sha256 does not match the content, which has ${found.sha256}`);
  }
  return found;
}
