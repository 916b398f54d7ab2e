// Tells all replicas that something happened, without saying what: a wake-up may get lost or come twice, so whoever
// hears it looks into the database. Implemented over Postgres here; the interface is narrow so that another carrier can
// take over where Postgres is outgrown.

/** `result`: a run has results up to a sequence · `queue`: a run waits for a slot · `cancel`: a run shall end ·
 *  `session`: a session has a new run · `callback`: somebody is to be told of a transition · `offer`: a run waits for a worker, or
 *  a worker has room · `report`: another replica has results for a run · `reported`: such a report is answered ·
 *  `approval`: something that a run asks for is decided. */
export const topics = [
  "result",
  "queue",
  "cancel",
  "session",
  "callback",
  "offer",
  "report",
  "reported",
  "approval",
] as const;
export type Topic = (typeof topics)[number];

export interface WakeupMessage {
  readonly topic: Topic;
  /** Id of the run, session or report; empty for `queue`, `callback` and `offer`. */
  readonly key: string;
  /** For `result` the newest sequence, else 0. */
  readonly value: number;
}

export interface HeardMessage extends WakeupMessage {
  /** True for what this process published itself. */
  readonly isOwn: boolean;
}

export interface Wakeup {
  /** Never waits and never fails. Call it after the commit. */
  publish(message: WakeupMessage): void;
  /** Hears what any replica publishes, this one included. Returns the way out. */
  subscribe(topic: Topic, listener: (message: HeardMessage) => void): () => void;
  /** Messages may have been lost: look at everything that you wait for. Returns the way out. */
  onGap(listener: () => void): () => void;
  close(): Promise<void>;
}
