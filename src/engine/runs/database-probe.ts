// Checks all the time whether the database works, over a connection of its own. The lease detects an outage only after seconds,
// and load balancers need to know sooner.
//
// P1  The probe fails when no answer arrived for a while in which this process was awake. A pause of the process or a busy
//     event loop does not count.
// P2  The load of this replica cannot make the probe fail: callers wait for other connections, not for this one.
// P3  When the database refused a connection or disk space to another part of this process, the probe needs both to count. So
//     it detects a server without free connections although its own is open, and a full disk although the server answers.
// P4  The probe commits, so it detects a database whose commits wait for a standby that is away. It leaves at most one connection
//     behind that waits so.
// P5  A renewed lease is a proof too: it was written and committed. It takes the place of the check beside it, but clears no doubt and
//     ends no failure. Silence after its question counts, so a check that waits for it loses no time.

import { alignedDelay, type Clock, over } from "../../platform/base/clock.ts";
import type { Connection, Connections } from "../../platform/database/database.ts";
import { isRefusal } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { askForRoom, endProbe, probeLimits, readProcessId, runProbe } from "../storage/database-probe.ts";

/** The maximum time from an answer, or from the question for another proof, to the next check. */
const intervalMs = 500;
/** The time from a repeated failure to the next check. A first failure is followed by a check at once. */
const retryDelayMs = 250;
/**
 * The silence after a question is counted in slices of this length: a pause of the process counts as one slice, however long it is. The
 * first wait lasts until the next check would be due, and counts as the slices that it contains: it wakes the process for nothing else.
 */
const sliceMs = 190;
/** 1.26 s: long enough for a slow answer, and, after the interval, short enough for load balancers to know within 2 s. */
const silentSlicesMax = 6;
/** After a failed check only a new connection is waited for, so less silence is enough. */
const failingSlicesMax = 3;

/** Options of the probe. */
export interface DatabaseProbeOptions {
  readonly connections: Pick<Connections, "connect" | "watchRefusals">;
  readonly clock: Clock;
  readonly events: Pick<Events, "databaseTroubled">;
  /** Returns whether another part sends a statement now, or waits for its answer, that proves as much as a check. */
  readonly isProofDue: () => boolean;
}

/** Watches whether the database works. */
export class DatabaseProbe {
  readonly #options: DatabaseProbeOptions;
  readonly #closing = new AbortController();
  #client: Connection | undefined;
  /** Ends the pause before the next check. */
  #pause = new AbortController();
  /** Ends the wait for a proof of another part. */
  #proof = new AbortController();
  /** The server's process for the connection. */
  #processId = 0;
  /** The end of the previous connection. Only the close waits for it: a dead connection takes its time. */
  #goodbye: Promise<void> | undefined;
  #silentSlices = 0;
  /** Why the last check failed; undefined after a success. */
  #trouble: unknown;
  /** True after a refusal: the next check uses a new connection and asks for disk space. */
  #isDoubted = false;
  #working: Promise<unknown> | undefined;

  constructor(options: DatabaseProbeOptions) {
    this.#options = options;
    options.connections.watchRefusals(() => {
      this.#isDoubted = true;
    });
  }

  /** Returns null while the database works; else why it does not. */
  whyFailing(): string | null {
    if (this.#silentSlices <= (this.#trouble === undefined ? silentSlicesMax : failingSlicesMax)) {
      return null;
    }
    return isRefusal(this.#trouble) ? "the database refuses work" : "the database does not answer";
  }

  /** Takes the place of a check that waits for it: a statement as good as the check was answered, one that wrote and committed. */
  hearProof(): void {
    this.#proof.abort(over);
  }

  open(): void {
    this.#working = this.#feel();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#proof.abort(over);
    this.#pause.abort(over);
    await this.#working;
    await this.#goodbye;
    await this.#client?.end().catch(() => {});
  }

  async #feel(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (!(await this.#hearsDueProof())) {
        const answered = new AbortController();
        const counting = this.#countSilence(answered.signal);
        await this.#askUntilAnswered();
        answered.abort(over);
        await counting;
      }
      await this.#rest();
    }
  }

  /** Waits for a proof that is due now. Returns false without one: when none is due, or it is not there when the next check is. */
  async #hearsDueProof(): Promise<boolean> {
    const { clock, isProofDue } = this.#options;
    if (this.#trouble !== undefined || this.#isDoubted || !isProofDue()) {
      return false;
    }
    this.#proof = new AbortController();
    const { signal } = this.#proof;
    const waitMs = alignedDelay(clock, intervalMs);
    // Not one slice too many: the load of this replica may delay the proof.
    await this.#waitSilently(waitMs, Math.floor(waitMs / sliceMs), signal);
    if (signal.aborted) {
      this.#heard();
    }
    return signal.aborted && !this.#isDoubted;
  }

  /** Resolves when the next check is due, or at once when the connection ends. */
  async #rest(): Promise<void> {
    const { clock } = this.#options;
    this.#pause = new AbortController();
    if (!this.#closing.signal.aborted) {
      await clock.sleep(alignedDelay(clock, intervalMs), this.#pause.signal);
    }
  }

  async #countSilence(until: AbortSignal): Promise<void> {
    const waitMs = alignedDelay(this.#options.clock, intervalMs);
    await this.#waitSilently(waitMs, Math.ceil(waitMs / sliceMs), until);
    while (!until.aborted) {
      await this.#waitSilently(sliceMs, 1, until);
    }
  }

  /** Counts the slices of a wait, unless it was ended. A wait that lasted longer than it should counts as one: the process paused. */
  async #waitSilently(waitMs: number, slices: number, until: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + waitMs;
    await clock.sleep(waitMs, until);
    if (!until.aborted) {
      this.#silentSlices += clock.monotonicMs() < endMs + sliceMs ? slices : 1;
    }
  }

  async #askUntilAnswered(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#ask();
        this.#trouble = undefined;
        this.#heard();
        return;
      } catch (error) {
        this.#isDoubted = true;
        await this.#options.clock.sleep(signal.aborted || this.#isFirst(error) ? 0 : retryDelayMs, signal);
      }
    }
  }

  /**
   * Returns true for the first failure since a success. It may be due to the connection, and the next check uses a new one.
   */
  #isFirst(error: unknown): boolean {
    const isFirst = this.#trouble === undefined;
    this.#trouble = error;
    if (isFirst) {
      // The lease logs further failures.
      this.#options.events.databaseTroubled({ part: "probe", error });
    }
    return isFirst;
  }

  async #ask(): Promise<void> {
    const isDoubted = this.#isDoubted;
    this.#isDoubted = false;
    const client = this.#client === undefined || isDoubted ? await this.#reconnect() : this.#client;
    await runProbe(client);
    if (isDoubted) {
      this.#heard();
      await askForRoom(client);
    }
  }

  /** Ends the silence. Partial answers end it too: a check over a new connection has several. */
  #heard(): void {
    if (this.#trouble === undefined) {
      this.#silentSlices = 0;
    }
  }

  /** Opens a new connection before it ends the old one: the server's slot of the old one must not pass as a free one. */
  async #reconnect(): Promise<Connection> {
    const next = await this.#options.connections.connect("probe", probeLimits);
    const before = this.#processId;
    this.#goodbye = this.#client?.end().catch(() => {});
    this.#client = next;
    // A connection that breaks is a reason to check at once.
    next.once("end", () => this.#client === next && this.#pause.abort(over));
    this.#processId = await readProcessId(next);
    this.#heard();
    if (before !== 0) {
      await endProbe(next, before);
    }
    return next;
  }
}
