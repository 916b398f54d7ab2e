// The login of this process to the cluster: the password file, the address, and the presence connection. Each process keeps
// that connection open while it uses the cluster; it shows the other processes that this one is still there.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { hasErrorCode } from "../../base/error-code.ts";
import { embeddedFailure } from "./failure.ts";
import { hasCluster } from "./place.ts";

/** A user and its database. */
export interface Identity {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** An identity and the address of the server. */
export interface Login extends Identity {
  /** The folder of the socket, or an address. */
  readonly host: string;
  readonly port: number;
}

/** The presence connection of this process. */
export interface Presence {
  readonly client: Client;
  /** Unreferenced while idle, so that it does not keep the process alive. Reference it before using the client. */
  readonly socket: Socket;
  /** Returns true once either side has closed the connection. */
  isClosed(): boolean;
}

/** The user that initdb creates. */
export const userName = "runnel";
/** The database that Runnel uses. */
export const databaseName = "runnel";

/** Returns a URL that both `pg` and libpq understand: in both, the host in the query overrides the one in the authority. */
export function formatConnectionString(login: Login): string {
  const host = encodeURIComponent(login.host);
  return `postgres://${login.user}:${login.password}@localhost:${login.port}/${login.database}?host=${host}&sslmode=disable`;
}

/**
 * Creates a password only for a home without a cluster; it must be on disk before initdb uses it. Throws when the password of
 * an existing cluster is missing.
 */
export function readOrCreatePassword(home: string): string {
  const file = join(home, "password");
  if (existsSync(file)) {
    return readFileSync(file, "utf8").trim();
  }
  if (hasCluster(home)) {
    throw embeddedFailure(
      `${file} is missing, so the service cannot log in to the cluster beside it. Put the file back, or move ${home} away.`,
    );
  }
  const password = randomBytes(passwordBytes).toString("hex");
  const draft = `${file}.new`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
  return password;
}

/** Logs in to Runnel's database. Creates it when the first start did not get that far. */
export async function connectPresence(login: Login): Promise<Presence> {
  const presence = await connect(login).catch(async (error: unknown) => {
    if (!hasErrorCode(error, databaseMissing)) {
      throw error;
    }
    await createDatabase(login);
    return connect(login);
  });
  presence.socket.unref();
  return presence;
}

/** The application name of the presence connection in pg_stat_activity. */
export const presenceName = "runnel presence";

/** 256 bits, so that the password is never the weak point of a socket that other users may reach. */
const passwordBytes = 32;

/** A login takes 5 to 20 ms; a server that needs this long is not answering. */
const connectTimeoutMs = 5_000;

/** The SQLSTATE invalid_catalog_name. */
const databaseMissing = "3D000";

async function createDatabase(login: Login): Promise<void> {
  const { client } = await connect({ ...login, database: "postgres" });
  try {
    await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}

async function connect(login: Login): Promise<Presence> {
  const socket = new Socket();
  const client = new Client({
    ...login,
    ssl: false,
    application_name: presenceName,
    connectionTimeoutMillis: connectTimeoutMs,
    stream: () => socket,
  });
  let isClosed = false;
  client.once("end", () => {
    isClosed = true;
  });
  // Without a listener, a server that goes away would end this process. The caller's pools report it themselves.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return { client, socket, isClosed: () => isClosed };
}
