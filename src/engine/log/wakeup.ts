// Notifies all replicas that something happened, but not what: a wake-up may get lost or arrive twice, so a receiver reads the
// database. The implementation uses Postgres. The interface is narrow, so that another carrier can replace it.

/**
 * The topics of wake-ups.
 *
 * - `result`: a run has results up to a sequence; 0 means that its log was purged
 * - `queue`: a run waits for a slot
 * - `cancel`: a run is to be cancelled
 * - `session`: a session has a new run, or was deleted
 * - `callback`: a status callback is due
 * - `offer`: a run waits for a worker, or a worker has room
 * - `report`: another replica has results for a run
 * - `reported`: such a report is answered
 * - `approval`: a request of a run for approval is decided
 * - `tree`: a child run has ended, or waits
 * - `schedule`: a schedule is due
 * - `credential`: an API key was revoked
 * - `beat`: the listener of a replica hears itself
 */
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
  "tree",
  "schedule",
  "credential",
  "beat",
] as const;
/** A topic of wake-ups. */
export type Topic = (typeof topics)[number];

/** A wake-up. */
export interface WakeupMessage {
  readonly topic: Topic;
  /** The id of the run, session, report or key; empty for topics that name none. */
  readonly key: string;
  /** The newest sequence for `result`; 0 for other topics. */
  readonly value: number;
}

/** A wake-up as a subscriber gets it. */
export interface HeardMessage extends WakeupMessage {
  /** True when this process published it. */
  readonly isOwn: boolean;
}

/** Wake-ups between replicas. */
export interface Wakeup {
  /** Publishes to all replicas. Never waits and never fails. Call it after the commit. */
  publish(message: WakeupMessage): void;
  /** Wakes the subscribers in this process alone. */
  wake(topic: Topic): void;
  /** Subscribes to messages of all replicas, this one included. Returns a function that unsubscribes. */
  subscribe(topic: Topic, listener: (message: HeardMessage) => void): () => void;
  /** Called when messages may be lost: check everything that you wait for. Returns a function that unsubscribes. */
  onGap(listener: () => void): () => void;
  close(): Promise<void>;
}
