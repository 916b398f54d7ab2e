// Storage: blobs of a plugin or a workspace, which outlive the run. They are written in pieces and read in ranges.

import {
  StorageArea as Area,
  type DeleteStorageRequest,
  type ListStorageRequest,
  type ReadStorageRequest,
  type WriteStorageRequest,
} from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { findKeyProblem } from "../../../engine/memory/state-text.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { pieceBytesMax, storageValueBytesMax } from "../runners/limits.ts";
import { type StorageArea, storageKey } from "../runners/scope.ts";
import {
  beginStorageVersion,
  deleteStorageValue,
  findStorageVersion,
  finishStorageValue,
  hasStoragePiece,
  insertStoragePiece,
  listStorageKeys,
  lockStorageValue,
  readStorageRange,
  type StorageKey,
  type StorageVersion,
} from "../storage/storage-value.ts";
import { type HostCall, type HostContext, type HostDeps, type HostRun, withHostRun, withHostWrite } from "./access.ts";
import type { Action } from "./actions.ts";
import { offsetOf } from "./byte-range.ts";
import { countOf } from "./page.ts";

const keysMax = 1_000;
/** The maximum pieces of a value: many small ones would be slow to read. Pieces of 16 KiB reach the largest value. */
const piecesMax = 1_024;

/** A range of a value. */
export interface StoragePart {
  readonly found: boolean;
  readonly content: Uint8Array;
  readonly sizeBytes: bigint;
  readonly hasMore: boolean;
}

/** Reads a range of a value. `found` is false when the value is missing. */
export async function readStorage(
  deps: HostDeps,
  context: HostContext,
  request: ReadStorageRequest,
): Promise<StoragePart> {
  return await withHostRun(deps, context, callOf(request, "get", request.key), async (run) => {
    const whose = requireKey(run, request);
    const offset = offsetOf(request.offset);
    const bytesMax = countOf("limit", Number(request.limit), { usual: pieceBytesMax, max: pieceBytesMax });
    const range = await readStorageRange(deps.db, { ...whose, offset, bytesMax });
    if (range === undefined) {
      return { found: false, content: new Uint8Array(), sizeBytes: 0n, hasMore: false };
    }
    const { content, sizeBytes } = range;
    return { found: true, content, sizeBytes: BigInt(sizeBytes), hasMore: offset + content.length < sizeBytes };
  });
}

/** Writes a piece. Writing the same piece again changes nothing, so a runner may retry after a lost answer. */
export async function writeStorage(deps: HostDeps, context: HostContext, request: WriteStorageRequest): Promise<void> {
  const size = { field: "content", bytes: request.content.length, bytesMax: pieceBytesMax };
  const call = { ...callOf(request, "set", request.key), size };
  await withHostWrite(deps, context, call, async (run, trx) => {
    const whose = requireKey(run, request);
    const offset = offsetOf(request.offset);
    const sizeBytes = offset + request.content.length;
    if (sizeBytes > storageValueBytesMax) {
      throw new Fault("PAYLOAD_TOO_LARGE", `the value would have ${sizeBytes} bytes: maximum ${storageValueBytesMax}`);
    }
    await lockStorageValue(trx, whose);
    const version = await writePiece(trx, { ...whose, runId: run.runId, nowMs: deps.clock.nowMs() }, request);
    if (request.finish && !version.isFinished) {
      await finishStorageValue(trx, { ...whose, client: run.scope.client, version: version.version, sizeBytes });
    }
  });
}

/** Deletes a value. `deleted` is false when it was missing. */
export async function deleteStorage(
  deps: HostDeps,
  context: HostContext,
  request: DeleteStorageRequest,
): Promise<{ deleted: boolean }> {
  return await withHostWrite(deps, context, callOf(request, "delete", request.key), async (run, trx) => {
    const whose = requireKey(run, request);
    await lockStorageValue(trx, whose);
    return { deleted: await deleteStorageValue(trx, whose) };
  });
}

/** Lists the keys of an area. */
export async function listStorage(
  deps: HostDeps,
  context: HostContext,
  request: ListStorageRequest,
): Promise<{ keys: string[]; hasMore: boolean }> {
  return await withHostRun(deps, context, callOf(request, "keys"), async (run) => {
    const owner = requireOwner(run, request.area);
    const limit = countOf("limit", request.limit, { usual: keysMax, max: keysMax });
    const keys = await listStorageKeys(deps.db, { owner, limit: limit + 1 });
    return { keys: keys.slice(0, limit), hasMore: keys.length > limit };
  });
}

type Verb = "get" | "set" | "delete" | "keys";

/** An invalid area needs the storage that is granted least. A runner with that grant then gets the error about the area. */
function callOf({ runId, area }: { runId: string; area: Area }, verb: Verb, key = ""): HostCall {
  const storage = areaOf(area) ?? "workspace";
  const action: Action = verb === "keys" ? `get_${storage}_storage_keys` : `${verb}_${storage}_storage`;
  return { runId, action, needs: { storage }, resource: key, scope: areaOf(area) ?? "" };
}

function areaOf(area: Area): StorageArea | undefined {
  return area === Area.PLUGIN ? "plugin" : area === Area.WORKSPACE ? "workspace" : undefined;
}

function requireKey(run: HostRun, { area, key }: { area: Area; key: string }): StorageKey {
  const owner = requireOwner(run, area);
  const problem = findKeyProblem(key);
  if (problem !== undefined) {
    throw invalidField("key", problem);
  }
  return { owner, key };
}

function requireOwner(run: HostRun, asked: Area): Buffer {
  const area = areaOf(asked);
  if (area === undefined) {
    throw invalidField("area", "use plugin or workspace");
  }
  const owner = storageKey(run.scope, area);
  if (owner === undefined) {
    throw invalidField("area", "event has no workspace");
  }
  return owner;
}

type Writing = StorageKey & { readonly runId: string; readonly nowMs: number };

/** Appends the piece and returns its version. */
async function writePiece(
  trx: Transaction,
  writing: Writing,
  { offset: at, content, finish }: WriteStorageRequest,
): Promise<Pick<StorageVersion, "version" | "isFinished">> {
  const piece = { ...writing, offset: Number(at), content };
  if (piece.offset === 0) {
    const version = await beginStorageVersion(trx, writing);
    await insertStoragePiece(trx, { ...piece, version });
    return { version, isFinished: false };
  }
  const version = await findStorageVersion(trx, writing);
  if (version === undefined) {
    throw invalidField("offset", "the value has no earlier piece: begin at 0");
  }
  const end = piece.offset + content.length;
  const isWritten = content.length === 0 ? end === version.end : await hasStoragePiece(trx, { ...piece, ...version });
  // A retry of the last piece finds a finished value; no other piece can follow one.
  if (isWritten && (finish ? end === version.end : !version.isFinished || end < version.end)) {
    return version;
  }
  if (version.isFinished || piece.offset !== version.end) {
    const where = version.isFinished
      ? "the value is finished: begin a new one at 0"
      : `the next piece begins at ${version.end}`;
    throw invalidField("offset", `no piece can begin here: ${where}`);
  }
  if (version.pieces >= piecesMax) {
    throw invalidField("content", `more than ${piecesMax} pieces: write larger ones, up to ${pieceBytesMax} bytes`);
  }
  await insertStoragePiece(trx, { ...piece, version: version.version });
  return version;
}
