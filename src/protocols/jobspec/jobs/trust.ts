// Whether a key's signatures of JobSpecs count, for whom and where: by the keys of the settings and those in the database.
// ("Portal ↔ Runner Signing Contract", Trust List.)
//
// K1  What either list trusts is trusted; what either list revokes is not. A key of the settings has no scope.
// K2  The database is asked each time, so that a change counts on every replica at once. When it cannot be asked there is no answer.
// K3  A file that has become unreadable changes nothing: the last good list counts, and this replica says that it is not fit.

import { keyedClient } from "../../../platform/auth/caller.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Loop } from "../../../platform/base/loop.ts";
import { publicKeyBytes } from "../../../platform/base/public-key.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { decodeBase64 } from "../spec/base64.ts";
import type { ReadDocument } from "../spec/json.ts";
import { SpecFault } from "../spec/spec-fault.ts";
import { type TrustedKey, TrustList, type TrustVerdict } from "../spec/trust-list.ts";
import { findTrustedKey, type TrustedKeyRow } from "../storage/trusted-key.ts";

export interface TrustAnswer extends TrustVerdict {
  readonly scope: TrustScope;
}

/** Where what a key signed may run; empty means everywhere. */
export interface TrustScope {
  readonly regions: readonly string[];
  readonly runners: readonly string[];
}

const everywhere: TrustScope = { regions: [], runners: [] };

/** Of a key that nobody has listed, or that cannot even be read. */
export const unknownKey: TrustAnswer = {
  status: "unknown",
  reason: "no match in allowlist",
  kid: undefined,
  scope: everywhere,
};

export interface TrustOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "trustListLoaded" | "trustListFailed">;
  /** The keys of the settings, as they were when the service started. */
  readonly configured: readonly TrustedKey[];
  /** Reads the settings' keys anew; throws an error that says what to do. */
  readonly reread: () => readonly TrustedKey[];
  /** 0 means never. */
  readonly reloadMs: number;
}

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

  /** The keys of the settings. */
  get configured(): readonly TrustedKey[] {
    return this.#configured;
  }

  /** Null while the list of the settings is what its file says. */
  whyUnfit(): string | null {
    return this.#problem;
  }

  /** Without a client the question is what would be so for one that is in the key's scope. */
  async look(publicKey: Uint8Array, { client }: { client: string | undefined }): Promise<TrustAnswer> {
    const nowMs = this.#options.clock.nowMs();
    const row = await findTrustedKey(this.#options.db, publicKey);
    const configured = { ...this.#list.judge(publicKey, nowMs), scope: everywhere };
    return row === undefined ? configured : prefer(configured, judgeRow(row, nowMs, client));
  }

  /** Reads the keys of the settings anew. */
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

/** What a key may sign for is part of whether it is trusted. Throws a `SpecFault`. */
export function assertInScope({ scope, kid }: TrustAnswer, at: { regions: readonly string[]; runner: string }): void {
  const region = scope.regions.length === 0 ? undefined : at.regions.find((each) => !scope.regions.includes(each));
  const isForRunner = scope.runners.length === 0 || scope.runners.includes(at.runner);
  if (region !== undefined || !isForRunner) {
    const what = region === undefined ? `runner ${at.runner}` : `region ${region}`;
    throw new SpecFault("trust_violation:unknown", `untrusted signing key: key "${kid}" is not trusted for ${what}`);
  }
}

/** Which of two answers counts, the strongest first; of equals the settings'. */
const strength: readonly TrustAnswer["status"][] = ["revoked", "trusted", "expired", "not_yet_valid", "unknown"];

/** An answer about another client, which has a name, says more than none at all. */
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

/** Whether the key counts that a spec says it was signed with. */
export async function lookForSpec(
  trust: Pick<Trust, "look">,
  document: Pick<ReadDocument, "object">,
  { client }: { client: string | undefined },
): Promise<TrustAnswer> {
  const publicKey = publicKeyOf(document);
  return publicKey === undefined ? unknownKey : await trust.look(publicKey, { client });
}

/** The key that a spec says it was signed with; undefined where there is none that can be read, which the gate has words for. */
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
