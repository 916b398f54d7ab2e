// How this process logs in to the cluster: the password file, the address, and the one connection that each process
// keeps open for as long as it uses the cluster. That connection is what tells the others that it is still here.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { hasErrorCode } from "../../base/error-code.ts";
import { embeddedFailure } from "./failure.ts";
import { hasCluster } from "./place.ts";

/** Who logs in to what. */
export interface Identity {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface Login extends Identity {
  /** A folder that holds the socket, or an address. */
  readonly host: string;
  readonly port: number;
}

export interface Presence {
  readonly client: Client;
  /** Idle it is unreferenced, so that it does not keep a process alive; reference it before using the client. */
  readonly socket: Socket;
  /** True once the connection is gone, by our end or the server's. */
  isClosed(): boolean;
}

/** The user that initdb makes and the database that Runnel uses. */
export const userName = "runnel";
export const databaseName = "runnel";

/** Understood by `pg` and by libpq: both let the host in the query win over the one in the authority. */
export function formatConnectionString(login: Login): string {
  const host = encodeURIComponent(login.host);
  return `postgres://${login.user}:${login.password}@localhost:${login.port}/${login.database}?host=${host}&sslmode=disable`;
}

/** Only for a home without a cluster is a password made; it must be on disk before initdb takes it over. */
export function readOrCreatePassword(home: string): string {
  const file = join(home, "password");
  if (existsSync(file)) {
    return readFileSync(file, "utf8").trim();
  }
  if (hasCluster(home)) {
    throw embeddedFailure(
      `${file} is missing, so nobody can log in to the cluster beside it. Put the file back, or move ${home} away.`,
    );
  }
  const password = randomBytes(passwordBytes).toString("hex");
  const draft = `${file}.new`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
  return password;
}

/** Logs in to Runnel's database, which it creates when a first start did not get that far. */
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

/** What pg_stat_activity shows for the connection that a process keeps. */
export const presenceName = "runnel presence";

/** 256 bits, so that the password is never the weak point of a socket that other users may reach. */
const passwordBytes = 32;

/** A login takes 5 to 20 ms; a server that needs this long for it is not answering. */
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
  // Without a listener a server that goes away would end this process; the pools of the caller report it in their way.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return { client, socket, isClosed: () => isClosed };
}
