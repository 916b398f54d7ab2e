// Decides whether a key's signatures of JobSpecs count, for which client and where. It uses the keys of the settings and of the
// database. ("Portal ↔ Runner Signing Contract", Trust List.)
//
// K1  A key that either list trusts is trusted, unless either list revokes it. Keys of the settings have no scope.
// K2  Each look asks the database, so a change counts on every replica at once. When the database is away, a look throws.
// K3  An unreadable file changes nothing: the last good list counts, and this replica reports that it is unfit.

import { keyedClient } from "../../../platform/auth/caller.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Loop } from "../../../platform/base/loop.ts";
import { publicKeyBytes } from "../../../platform/base/public-key.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { findTrustedKey, type TrustedKeyRow } from "../storage/trusted-key.ts";
import { decodeBase64 } from "../verification/base64.ts";
import type { ReadDocument } from "../verification/json.ts";
import { SpecFault } from "../verification/spec-fault.ts";
import { type TrustedKey, TrustList, type TrustVerdict } from "../verification/trust-list.ts";

/** The verdict on a key, and its scope. */
export interface TrustAnswer extends TrustVerdict {
  readonly scope: TrustScope;
}

/** Where a spec of this key may run; an empty list means everywhere. */
export interface TrustScope {
  readonly regions: readonly string[];
  readonly runners: readonly string[];
}

const everywhere: TrustScope = { regions: [], runners: [] };

/** The answer for a key that is unlisted or unreadable. */
export const unknownKey: TrustAnswer = {
  status: "unknown",
  reason: "no match in allowlist",
  kid: undefined,
  scope: everywhere,
};

/** Dependencies of `Trust`. */
export interface TrustOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "trustListLoaded" | "trustListFailed">;
  /** The keys of the settings at the start of the service. */
  readonly configured: readonly TrustedKey[];
  /** Reads the keys of the settings again. Throws an Error that says what to do. */
  readonly reread: () => readonly TrustedKey[];
  /** The time between two reloads in milliseconds; 0 means never. */
  readonly reloadMs: number;
}

/** The trusted keys of the settings, reloaded from time to time, and of the database. */
export class Trust {
  readonly #options: TrustOptions;
  readonly #loop: Loop;
  #configured: readonly TrustedKey[];
  #list: TrustList;
  #problem: string | null = null;

  constructor(options: TrustOptions) {
    this.#options = options;
    this.#configured = options.configured;
    this.#list = new TrustList(options.configured);
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: options.reloadMs,
      waitsFirst: true,
      pass: () => this.reload(),
      onError: (error) => options.events.trustListFailed({ error }),
    });
  }

  open(): void {
    if (this.#options.reloadMs > 0) {
      this.#loop.open();
    }
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** The current keys of the settings. */
  get configured(): readonly TrustedKey[] {
    return this.#configured;
  }

  /** Returns why the last reload failed, or null after a good one. */
  whyUnfit(): string | null {
    return this.#problem;
  }

  /** Returns the verdict on a key for a client. Without a client it answers for any client in the key's scope. */
  async look(publicKey: Uint8Array, { client }: { client: string | undefined }): Promise<TrustAnswer> {
    const nowMs = this.#options.clock.nowMs();
    const row = await findTrustedKey(this.#options.db, publicKey);
    const configured = { ...this.#list.judge(publicKey, nowMs), scope: everywhere };
    return row === undefined ? configured : prefer(configured, judgeRow(row, nowMs, client));
  }

  /** Reads the keys of the settings again. An error keeps the last good list. */
  reload(): void {
    const { events, reread } = this.#options;
    try {
      const configured = reread();
      if (this.#problem !== null || !isSameList(configured, this.#configured)) {
        this.#configured = configured;
        this.#list = new TrustList(configured);
        events.trustListLoaded({ keys: configured.length });
      }
      this.#problem = null;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#problem) {
        events.trustListFailed({ error });
      }
      this.#problem = problem;
    }
  }
}

/** Throws a `SpecFault` when the key's scope excludes a region or the runner. */
export function assertInScope({ scope, kid }: TrustAnswer, at: { regions: readonly string[]; runner: string }): void {
  const region = scope.regions.length === 0 ? undefined : at.regions.find((each) => !scope.regions.includes(each));
  const isForRunner = scope.runners.length === 0 || scope.runners.includes(at.runner);
  if (region !== undefined || !isForRunner) {
    const what = region === undefined ? `runner ${at.runner}` : `region ${region}`;
    throw new SpecFault("trust_violation:unknown", `untrusted signing key: key "${kid}" is not trusted for ${what}`);
  }
}

/** The order in which two verdicts win, the strongest first. Of equal ones the settings' wins. */
const strength: readonly TrustAnswer["status"][] = ["revoked", "trusted", "expired", "not_yet_valid", "unknown"];

/** Returns the verdict that counts. One of the database wins over an unknown key of the settings, because it has a name. */
function prefer(configured: TrustAnswer, kept: TrustAnswer): TrustAnswer {
  if (configured.status === "unknown") {
    return kept;
  }
  return strength.indexOf(kept.status) < strength.indexOf(configured.status) ? kept : configured;
}

function judgeRow(row: TrustedKeyRow, nowMs: number, client: string | undefined): TrustAnswer {
  const scope = { regions: row.regions, runners: row.runners };
  const verdict = new TrustList([keyOfRow(row)]).judge(row.public_key, nowMs);
  const isForClient =
    client === undefined || row.client_ids.length === 0 || row.client_ids.some((id) => keyedClient(id) === client);
  if (verdict.status !== "revoked" && !isForClient) {
    return { status: "unknown", reason: "not trusted for this client", kid: row.kid, scope };
  }
  return { ...verdict, scope };
}

function keyOfRow(row: TrustedKeyRow): TrustedKey {
  return {
    kid: row.kid,
    publicKey: row.public_key,
    isRevoked: row.status === "revoked",
    notBeforeMs: row.not_before?.getTime(),
    notAfterMs: row.not_after?.getTime(),
  };
}

function isSameList(one: readonly TrustedKey[], other: readonly TrustedKey[]): boolean {
  const textOf = (list: readonly TrustedKey[]): string =>
    JSON.stringify(list.map((key) => ({ ...key, publicKey: Buffer.from(key.publicKey).toString("hex") })));
  return textOf(one) === textOf(other);
}

/** Returns the verdict on the key that a spec names. */
export async function lookForSpec(
  trust: Pick<Trust, "look">,
  document: Pick<ReadDocument, "object">,
  { client }: { client: string | undefined },
): Promise<TrustAnswer> {
  const publicKey = publicKeyOf(document);
  return publicKey === undefined ? unknownKey : await trust.look(publicKey, { client });
}

/** Returns the key that a spec names. Returns undefined when it is missing or unreadable; the gate then reports why. */
export function publicKeyOf({ object }: Pick<ReadDocument, "object">): Uint8Array | undefined {
  const text = object.get("public_key");
  if (typeof text !== "string") {
    return undefined;
  }
  try {
    const bytes = decodeBase64(text);
    return bytes.length === publicKeyBytes ? bytes : undefined;
  } catch {
    return undefined;
  }
}
