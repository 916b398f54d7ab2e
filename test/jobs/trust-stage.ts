// Trust with its own database, keys to judge, and the events that it reports.

import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Db } from "../../src/platform/database/database.ts";
import { readConfiguredKeys } from "../../src/protocols/jobspec/jobs/configured-keys.ts";
import { Trust } from "../../src/protocols/jobspec/jobs/trust.ts";
import { openFolder } from "../fixtures.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { openStore } from "../runlog/store.ts";

export const atNoon = Date.parse("2025-10-10T12:00:00Z");

export interface TrustStage {
  readonly db: Db;
  readonly clock: ManualClock;
  /** `loaded <keys>` or `failed <message>`. */
  readonly told: string[];
  readonly trust: Trust;
}

export interface TrustStageOptions {
  readonly json?: readonly unknown[];
  readonly file?: string;
  readonly reloadMs?: number;
  readonly clock?: ManualClock;
  readonly db?: Db;
}

export async function openTrustStage(options: TrustStageOptions = {}): Promise<TrustStage> {
  const { json, file = "", reloadMs = 0, clock = createManualClock({ nowMs: atNoon }) } = options;
  const db = options.db ?? (await openStore()).db;
  const settings = { trustKeysJson: json === undefined ? "" : JSON.stringify(json), trustKeysFile: file };
  const told: string[] = [];
  const trust = new Trust({
    db,
    clock,
    events: {
      trustListLoaded: ({ keys }) => told.push(`loaded ${keys}`),
      trustListFailed: ({ error }) => told.push(`failed ${error instanceof Error ? error.message : error}`),
    },
    configured: readConfiguredKeys(settings),
    reread: () => readConfiguredKeys(settings),
    reloadMs,
  });
  trust.open();
  onTestFinished(() => trust.close());
  return { db, clock, told, trust };
}

/** The 32 bytes of a new public key. */
export function freshKey(): Buffer {
  return generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
}

export function entryOf(kid: string, publicKey: Buffer, more: object = {}): object {
  return { kid, public_key: publicKey.toString("base64"), ...more };
}

export interface KeyFile {
  readonly path: string;
  write(text: string): Promise<void>;
}

export async function openKeyFile(text: string): Promise<KeyFile> {
  const folder = await openFolder();
  const path = join(folder, "keys.json");
  await writeFile(path, text);
  return { path, write: (next) => writeFile(path, next) };
}
