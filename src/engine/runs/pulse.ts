// The database's pulse: whether it can be worked with, asked all the time over a connection that nobody else uses. The
// lease tells only after seconds that the database is away, and load balancers want to know sooner.
//
// P1  The pulse is missing when no answer came for a while in which this process was awake: a pause of its own, or a busy
//     event loop, is not held against the database.
// P2  The load of this replica cannot make it miss: callers that wait for a connection of ours wait elsewhere.
// P3  When others here were refused a connection or room, the pulse has to get both to count. So a server without
//     connections to give is found out though our own is still open, and a full disk though it answers.

import type { Clock } from "../../platform/base/clock.ts";
import type { Connection, Connections } from "../../platform/database/database.ts";
import { isRefusal } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { askForRoom, feelPulse, pulseLimits } from "../storage/pulse.ts";

/** From an answer to the next question. */
const intervalMs = 400;
/** From a failure to the next question. */
const retryDelayMs = 250;
/** Silence is counted in slices: however long a pause takes, it counts as one. */
const sliceMs = 200;
/** Between 1.2 s and 1.4 s: longer than an interval with a slow answer, and short enough to be told within 2 s. */
const silentSlicesMax = 6;
/** Once a question has failed there is less to wait for: a new connection, but no more than that. */
const failingSlicesMax = 3;

export interface PulseOptions {
  readonly connections: Pick<Connections, "connect" | "watchRefusals">;
  readonly clock: Clock;
  readonly events: Pick<Events, "databaseTroubled">;
}

export class Pulse {
  readonly #options: PulseOptions;
  readonly #closing = new AbortController();
  #client: Connection | undefined;
  /** Nobody waits for it but the end: a dead wire takes its time. */
  #goodbye: Promise<void> | undefined;
  #silentSlices = 0;
  /** Why the last question failed. */
  #trouble: unknown;
  /** Somebody was refused: the next question goes over a new connection, and asks for room. */
  #isDoubted = false;
  #working: Promise<unknown> | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
    options.connections.watchRefusals(() => {
      this.#isDoubted = true;
    });
  }

  /** Null while the database can be worked with; else why it cannot. */
  whyMissing(): string | null {
    if (this.#silentSlices <= (this.#trouble === undefined ? silentSlicesMax : failingSlicesMax)) {
      return null;
    }
    return isRefusal(this.#trouble) ? "the database refuses work" : "the database does not answer";
  }

  open(): void {
    this.#working = Promise.all([this.#feel(), this.#countSilence()]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
    await this.#goodbye;
    await this.#client?.end().catch(() => {});
  }

  async #countSilence(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#options.clock.sleep(sliceMs, signal);
      this.#silentSlices += 1;
    }
  }

  async #feel(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let delayMs = intervalMs;
      try {
        await this.#ask();
        this.#trouble = undefined;
        this.#heard();
      } catch (error) {
        delayMs = signal.aborted || this.#isFirst(error) ? 0 : retryDelayMs;
        this.#isDoubted = true;
      }
      await this.#options.clock.sleep(delayMs, signal);
    }
  }

  /** True for the first failure since an answer: it may be the connection's, and the next question has a new one. */
  #isFirst(error: unknown): boolean {
    const isFirst = this.#trouble === undefined;
    this.#trouble = error;
    if (isFirst) {
      // The lease tells of the others.
      this.#options.events.databaseTroubled({ part: "pulse", error });
    }
    return isFirst;
  }

  async #ask(): Promise<void> {
    const isDoubted = this.#isDoubted;
    this.#isDoubted = false;
    const client = this.#client === undefined || isDoubted ? await this.#reconnect() : this.#client;
    await feelPulse(client);
    if (isDoubted) {
      this.#heard();
      await askForRoom(client);
    }
  }

  /** A word on the way to an answer ends the silence as well: there are several with a new connection. */
  #heard(): void {
    if (this.#trouble === undefined) {
      this.#silentSlices = 0;
    }
  }

  /** The old connection is kept until there is a new one: what it holds is not to be taken for one that is free. */
  async #reconnect(): Promise<Connection> {
    const next = await this.#options.connections.connect("pulse", pulseLimits);
    this.#goodbye = this.#client?.end().catch(() => {});
    this.#client = next;
    this.#heard();
    return next;
  }
}
