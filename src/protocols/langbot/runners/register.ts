// Registers the runners of a worker, and opens a session for each of its processes. Also registers the runners that a dialled
// address lists.
//
// R1  A refused manifest does not affect the others.
// R2  A runner belongs to the worker id that registered it first. Another worker id gets permission_denied; the same one
//     replaces it.
// R3  Of manifests with the same id in a batch, the first counts.

import { create } from "@bufbuild/protobuf";
import type { RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { type ManifestVerdict, ManifestVerdictSchema } from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { listRunnerIdsOfWorker, type RunnerAddress, registerRunners } from "../storage/runner.ts";
import { insertWorkerSession } from "../storage/worker-session.ts";
import type { Era } from "./era.ts";
import { manifestToBytes, peekRunnerId, readManifest } from "./manifest.ts";

/** A registration of runners. */
export interface Registration {
  readonly client: string;
  readonly workerId: string;
  readonly era: Era;
  /** The manifests as JSON, as they were sent. */
  readonly manifests: readonly string[];
}

/** A worker that is silent for this long counts as gone: three times the pause between two signs of life. */
export const workerSeenWithinMs = 45_000;

/** Registers the runners of a worker process. Returns its session, and a verdict on each manifest. */
export async function registerWorker(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { client, workerId, era, manifests }: Registration,
): Promise<{ workerSessionId: string; verdicts: ManifestVerdict[] }> {
  const readings = readManifests(manifests);
  const workerSessionId = newUuid(clock.nowMs());
  const own = await db.transaction().execute(async (trx) => {
    const registered = await writeRunners(trx, readings, { client, workerId, era, address: undefined });
    // A worker without manifests works for all runners of its worker id.
    const runnerIds = manifests.length === 0 ? await listRunnerIdsOfWorker(trx, { client, workerId }) : registered;
    await insertWorkerSession(trx, { id: workerSessionId, client, workerId, runnerIds });
    return new Set(registered);
  });
  return { workerSessionId, verdicts: readings.map((reading) => verdictOf(reading, own)) };
}

/** Registers the runners that were listed at an address. They need no session. */
export async function registerListed(
  { db }: { readonly db: Db },
  { manifests, ...owner }: Registration & { readonly address: RunnerAddress },
): Promise<ManifestVerdict[]> {
  const readings = readManifests(manifests);
  const own = await db.transaction().execute(async (trx) => new Set(await writeRunners(trx, readings, owner)));
  return readings.map((reading) => verdictOf(reading, own));
}

/** Returns the ids of the runners that are now registered. */
async function writeRunners(
  trx: Transaction,
  readings: readonly Reading[],
  owner: Omit<Registration, "manifests"> & { readonly address: RunnerAddress | undefined },
): Promise<string[]> {
  const runners = readings.flatMap(({ runnerId, manifest }) =>
    manifest === undefined ? [] : [{ runnerId, manifest: manifestToBytes(manifest) }],
  );
  return runners.length === 0 ? [] : await registerRunners(trx, { ...owner, runners });
}

interface Reading {
  readonly runnerId: string;
  /** Undefined when the manifest was refused. */
  readonly manifest?: RunnerManifest;
  readonly refusal?: { readonly code: string; readonly problem: string };
}

function readManifests(texts: readonly string[]): Reading[] {
  const firstOf = new Map<string, number>();
  return texts.map((text, index) => {
    const reading = readOne(text);
    const first = firstOf.get(reading.runnerId);
    if (reading.manifest === undefined) {
      return reading;
    }
    if (first !== undefined) {
      const problem = `manifests[${first}] has the same id: send each runner once`;
      return { runnerId: reading.runnerId, refusal: { code: "already_exists", problem } };
    }
    firstOf.set(reading.runnerId, index);
    return reading;
  });
}

function readOne(text: string): Reading {
  try {
    const manifest = readManifest(text);
    return { runnerId: manifest.id, manifest };
  } catch (error) {
    if (error instanceof Fault && error.reason === "INVALID_ARGUMENT") {
      return { runnerId: peekRunnerId(text), refusal: { code: "invalid_argument", problem: error.message } };
    }
    throw error;
  }
}

function verdictOf({ runnerId, refusal }: Reading, own: ReadonlySet<string>): ManifestVerdict {
  if (refusal !== undefined) {
    return create(ManifestVerdictSchema, { runnerId, accepted: false, ...refusal });
  }
  if (own.has(runnerId)) {
    return create(ManifestVerdictSchema, { runnerId, accepted: true });
  }
  const problem = "another worker_id registered this id: use that one, or delete the runner first";
  return create(ManifestVerdictSchema, { runnerId, accepted: false, code: "permission_denied", problem });
}
