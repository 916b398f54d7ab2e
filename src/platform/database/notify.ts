// Sends small messages between replicas with Postgres' NOTIFY. They are sent in batches and off the write path: committing one
// holds a database-wide lock during its fsync.

import type pg from "pg";

/** A message on a channel. */
export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

/** A received message. */
export interface HeardNotification extends Notification {
  /** The backend id of the connection that sent it. */
  readonly backend: number;
}

/** Sends all notifications in one transaction. */
export async function sendNotifications(client: pg.Client, notifications: readonly Notification[]): Promise<void> {
  await client.query({
    name: "notify",
    text: "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as sent (channel, payload)",
    values: [notifications.map((each) => each.channel), notifications.map((each) => each.payload)],
  });
}

/** Returns the id by which the server names this connection as the sender of a notification. */
export async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
}

/** Subscribes to the channels on the caller's connection until that ends. */
export async function listen(
  client: pg.Client,
  channels: readonly string[],
  onNotification: (notification: HeardNotification) => void,
): Promise<void> {
  client.on("notification", ({ channel, payload, processId }) =>
    onNotification({ channel, payload: payload ?? "", backend: processId }),
  );
  for (const channel of channels) {
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
  }
}
