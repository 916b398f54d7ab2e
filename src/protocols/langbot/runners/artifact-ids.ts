// The owners of the artifact ids that a run names. An id is claimed before the result that names it is judged, so that the
// verdict is true when it is written.

import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { textMember } from "../../../platform/base/json/free.ts";
import { findJson } from "../../../platform/base/json/text.ts";
import type { Db } from "../../../platform/database/database.ts";
import { type ArtifactClaim, claimArtifact } from "../storage/artifact.ts";
import type { NewArtifact } from "./results/artifact.ts";
import type { Refusal } from "./results/policy.ts";

/** The artifact ids of one run. */
export class ArtifactIds {
  readonly #db: Db;
  readonly #run: { readonly client: string; readonly runId: string };
  readonly #claims = new Map<string, ArtifactClaim>();

  constructor(db: Db, run: { readonly client: string; readonly runId: string }) {
    this.#db = db;
    this.#run = run;
  }

  /** Claims the ids that these results name. */
  async claim(results: readonly ReportedResult[]): Promise<void> {
    for (const { type, data } of results) {
      const artifactId = type === "artifact.created" ? findArtifactId(data) : undefined;
      if (artifactId !== undefined && !this.#claims.has(artifactId)) {
        this.#claims.set(artifactId, await claimArtifact(this.#db, { ...this.#run, artifactId }));
      }
    }
  }

  /** Returns undefined when the artifact may have its id, which then counts as used. */
  refuse({ artifactId, sha256: hash }: NewArtifact): Refusal | undefined {
    const claim = this.#claims.get(artifactId);
    const sha256 = hash ?? null;
    if (claim?.isMine === false) {
      return { disposition: "dropped_invalid", problem: "conflict: data.artifact_id is in use: choose another one" };
    }
    if (claim?.isComplete === true && claim.sha256 !== sha256) {
      const problem = "conflict: data.artifact_id belongs to an artifact of this run with other content";
      return { disposition: "dropped_invalid", problem };
    }
    this.#claims.set(artifactId, { isMine: true, isComplete: true, sha256 });
    return undefined;
  }
}

/** Returns undefined for data that cannot become an artifact. */
function findArtifactId(data: string): string | undefined {
  const artifactId = textMember(findJson(data), "artifact_id");
  return artifactId !== undefined && isClaimable(artifactId) ? artifactId : undefined;
}

const idCharsMax = 1_024;

function isClaimable(id: string): boolean {
  return id.length <= idCharsMax && id.isWellFormed() && !id.includes("\0");
}
