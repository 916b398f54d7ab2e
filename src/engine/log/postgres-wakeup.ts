// Wake-ups over LISTEN and NOTIFY. The sender coalesces them: per run only the newest sequence goes out, many runs share a
// payload, and at most one transaction notifies per interval. The receiver always reconnects, and reports each gap.

import { alignedDelay, type Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { type Connection, type Connections, listenLimits } from "../../platform/database/database.ts";
import {
  backendOf,
  type HeardNotification,
  listen,
  type Notification,
  sendNotifications,
} from "../../platform/database/notify.ts";
import { type HeardMessage, type Topic, topics, type Wakeup, type WakeupMessage } from "./wakeup.ts";

/** The minimum time between two sends: a notifying commit holds a database-wide lock. */
const sendIntervalMs = 10;
/** Postgres refuses payloads of 8000 bytes. */
const payloadBytesMax = 7_900;
const reconnectDelayMs = 250;
/**
 * The listener gets its own notification at this interval. Silence for three intervals means a dead socket or a pooler without
 * LISTEN.
 */
const beatMs = 5_000;
const beatsMissedMax = 3;
const channelPrefix = "runnel_";

/** Implements `Wakeup` over two connections: one sends, one listens. */
export class PostgresWakeup implements Wakeup {
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #dirty = new Map<Topic, Map<string, number>>();
  readonly #listeners = new Map<Topic, Set<(message: HeardMessage) => void>>();
  readonly #gapListeners = new Set<() => void>();
  readonly #closing = new AbortController();
  readonly #receiving: Promise<void>;
  #sender: Connection | undefined;
  #senderBackend: number | undefined;
  #sending: Promise<void> | undefined;
  #heardAtMs = 0;
  #isListening = false;

  constructor(options: { connections: Connections; clock: Clock; onError: (error: unknown) => void }) {
    this.#connections = options.connections;
    this.#clock = options.clock;
    this.#onError = options.onError;
    this.#receiving = this.#receive();
  }

  /** False while only polls find what other replicas did. */
  get isListening(): boolean {
    return this.#isListening;
  }

  publish({ topic, key, value }: WakeupMessage): void {
    const keys = this.#dirty.get(topic) ?? new Map<string, number>();
    keys.set(key, Math.max(value, keys.get(key) ?? 0));
    this.#dirty.set(topic, keys);
    this.#sending ??= this.#sendAll();
  }

  wake(topic: Topic): void {
    this.#tell({ topic, key: "", value: 0, isOwn: true });
  }

  subscribe(topic: Topic, listener: (message: HeardMessage) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(topic, listeners);
    return () => listeners.delete(listener);
  }

  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#sending;
    this.#closing.abort();
    await this.#receiving;
    await this.#sender?.end().catch(() => {});
  }

  async #sendAll(): Promise<void> {
    while (this.#dirty.size > 0 && !this.#closing.signal.aborted) {
      await new Promise((resolve) => setImmediate(resolve));
      const notifications = packNotifications(this.#dirty);
      this.#dirty.clear();
      try {
        this.#sender ??= await this.#connectSender();
        failpoint("notify.sending");
        await sendNotifications(this.#sender, notifications);
        failpoint("notify.sent");
      } catch (error) {
        // The polls find what got lost here.
        this.#onError(error);
      }
      await this.#clock.sleep(sendIntervalMs, this.#closing.signal);
    }
    this.#sending = undefined;
  }

  async #connectSender(): Promise<Connection> {
    const client = await this.#connections.connect("notify");
    client.once("end", () => {
      if (this.#sender === client) {
        this.#sender = undefined;
      }
    });
    this.#senderBackend = await backendOf(client);
    return client;
  }

  async #receive(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let client: Connection | undefined;
      try {
        client = await this.#connections.connect("listen", listenLimits);
        await listen(
          client,
          topics.map((topic) => channelPrefix + topic),
          (notification) => this.#hear(notification),
        );
        this.#isListening = true;
        for (const listener of this.#gapListeners) {
          listener();
        }
        await this.#watchConnection(client, signal);
      } catch (error) {
        if (!signal.aborted) {
          this.#onError(error);
        }
      } finally {
        this.#isListening = false;
        await client?.end().catch(() => {});
      }
      await this.#clock.sleep(reconnectDelayMs, signal);
    }
  }

  /** Returns when the connection has ended or is silent. */
  async #watchConnection(client: Connection, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    client.once("end", () => ended.abort());
    const stop = AbortSignal.any([signal, ended.signal]);
    this.#heardAtMs = this.#clock.monotonicMs();
    while (!stop.aborted && this.#clock.monotonicMs() - this.#heardAtMs < beatMs * beatsMissedMax) {
      this.publish({ topic: "beat", key: "", value: 0 });
      await this.#clock.sleep(alignedDelay(this.#clock, beatMs), stop);
    }
  }

  #tell(message: HeardMessage): void {
    for (const listener of this.#listeners.get(message.topic) ?? []) {
      listener(message);
    }
  }

  #hear({ channel, payload, backend }: HeardNotification): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    const topic = topics.find((each) => channelPrefix + each === channel);
    if (topic === undefined) {
      return;
    }
    for (const message of unpackPayload(topic, payload)) {
      this.#tell({ ...message, isOwn: backend === this.#senderBackend });
    }
  }
}

/** Packs wake-ups into payloads of at most 7,900 bytes, such as `run-1:5,run-2:9`. */
export function packNotifications(dirty: ReadonlyMap<Topic, ReadonlyMap<string, number>>): Notification[] {
  const notifications: Notification[] = [];
  for (const [topic, keys] of dirty) {
    let payload = "";
    for (const [key, value] of keys) {
      const word = `${key}:${value}`;
      if (payload.length + word.length + 1 > payloadBytesMax) {
        notifications.push({ channel: channelPrefix + topic, payload });
        payload = "";
      }
      payload += payload === "" ? word : `,${word}`;
    }
    notifications.push({ channel: channelPrefix + topic, payload });
  }
  return notifications;
}

/** Reads a payload such as `run-1:5,run-2:9`. */
export function unpackPayload(topic: Topic, payload: string): WakeupMessage[] {
  return payload.split(",").map((word) => {
    const colon = word.lastIndexOf(":");
    return { topic, key: word.slice(0, colon), value: Number(word.slice(colon + 1)) };
  });
}
