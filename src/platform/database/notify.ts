// Postgres' NOTIFY as a carrier of small words between replicas. Notifications go out off the write path and many at
// a time: one that commits holds a database-wide lock over its fsync.

import type pg from "pg";

export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

export interface HeardNotification extends Notification {
  /** Of the connection that sent it. */
  readonly backend: number;
}

/** Sends all in one transaction. */
export async function sendNotifications(client: pg.Client, notifications: readonly Notification[]): Promise<void> {
  await client.query({
    name: "notify",
    text: "select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as sent (channel, payload)",
    values: [notifications.map((each) => each.channel), notifications.map((each) => each.payload)],
  });
}

/** By which the server tells who sent a notification. */
export async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
}

/** Hears the channels on a connection of the caller's until that ends. */
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
