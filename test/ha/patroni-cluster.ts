// Three nodes of Postgres under Patroni, three members of etcd, and HAProxy before them, all on loopback, with the files of
// deploy/ha. A test can break the paths between the nodes, and those from a node to etcd.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import pg from "pg";
import { inject } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { familyOf, readPid, signalFamily } from "../fault/database/process-family.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { openPath, type Path } from "../harness/path.ts";
import { until } from "../harness/wait.ts";

const startMaxMs = 120_000;
const connectMaxMs = 2_000;
/** The lines of each program that a failure shows. */
const shownLines = 15;
const password = "a-password-of-the-tests";

export interface Node {
  readonly name: string;
  readonly patroni: Program;
  /** From the other nodes to its Postgres. */
  readonly toPostgres: Path;
  /** From the Patronis of the other nodes to its own. */
  readonly toPatroni: Path;
  /** From its Patroni to all members of etcd. */
  readonly toEtcd: Path;
  /** The processes of its Postgres; empty when it does not run. */
  postgres(): readonly number[];
  /** Sends the signal to all processes of its Postgres. */
  signal(signal: NodeJS.Signals): void;
  /** Runs a statement on this node, as superuser. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]>;
}

export interface PatroniCluster extends AsyncDisposable {
  readonly etcd: readonly Program[];
  readonly haproxy: Program;
  /** Makes an empty database. Returns its URL behind HAProxy. */
  makeDatabase(): Promise<string>;
  /** Resolves with the leader of etcd and the other two, once all three agree. */
  etcdRoles(): Promise<{ readonly leader: Program; readonly followers: readonly Program[] }>;
  /**
   * Cuts what a primary without etcd asks of the Patronis of the other nodes: whether it may stay. Only a primary asks this, so the
   * paths between the other nodes are whole.
   */
  refuseFailsafe(isRefused: boolean): void;
  /** Resolves with the primary and the standbys, once both standbys receive from it and have the role. */
  whole(role?: StandbyRole): Promise<{ readonly primary: Node; readonly standbys: readonly Node[] }>;
  /** Returns the node that is primary now, unless it is `old`. */
  findPrimary(old?: Node): Promise<Node | undefined>;
  isPrimary(node: Node): Promise<boolean>;
  /** Changes the settings of the cluster, as `patronictl edit-config` does. */
  configure(settings: object): Promise<void>;
}

/** `quorum_standby` acknowledges commits; `replica` is asynchronous. */
type StandbyRole = "quorum_standby" | "replica";

/** A program that a test kills and starts again. */
class Program {
  readonly #start: () => ChildProcess;
  #child: ChildProcess;

  constructor(start: () => ChildProcess) {
    this.#start = start;
    this.#child = start();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await exited;
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  start(): void {
    this.#child = this.#start();
  }
}

interface EtcdPlace {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly peerPort: number;
}

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly apiPort: number;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

interface Membership {
  readonly members: readonly Member[];
}

export async function openPatroniCluster(): Promise<PatroniCluster> {
  await using closers = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "runnel-ha-"));
  closers.defer(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o711);
  const [proxyPort = 0, ...ports] = await findFreePorts(13);
  const etcdPlaces = [1, 2, 3].map((number) => ({
    name: `etcd-${number}`,
    folder: join(folder, `etcd-${number}`),
    port: ports.pop() ?? 0,
    peerPort: ports.pop() ?? 0,
  }));
  const logs = join(folder, "logs");
  await mkdir(logs);
  const etcd = etcdPlaces.map((place) => closers.adopt(startEtcd(place, etcdPlaces, logs), (each) => each.kill()));
  // Patroni ends with an error when a member answers before the cluster has agreed on its version.
  await until("etcd to have a version", () => hasVersion(etcdPlaces), startMaxMs);
  const places = [1, 2, 3].map((number) => ({
    name: `node-${number}`,
    folder: join(folder, `node-${number}`),
    port: ports.pop() ?? 0,
    apiPort: ports.pop() ?? 0,
  }));
  let isFailsafeRefused = false;
  const admit = (data: Buffer): boolean => !(isFailsafeRefused && data.toString("latin1").startsWith("POST /failsafe"));
  const nodes: Node[] = [];
  for (const place of places) {
    const paths = {
      toPostgres: await openPath([place.port]),
      toPatroni: await openPath([place.apiPort], { admit }),
      toEtcd: await openPath(etcdPlaces.map(({ port }) => port)),
    };
    for (const path of Object.values(paths)) {
      closers.adopt(path, (each) => each.close());
    }
    nodes.push(closers.adopt(await startNode(place, paths, logs), stopNode));
  }
  const haproxy = closers.adopt(startHaproxy(proxyPort, places, logs), (each) => each.kill());
  const whole = (role: StandbyRole = "quorum_standby"): Promise<{ primary: Node; standbys: readonly Node[] }> =>
    until(`a primary with two of ${role}`, () => findRoles(places, nodes, role), startMaxMs);
  const { primary } = await whole().catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await readLogs(logs)}`);
  });
  await primary.query(`create role runnel login password '${password}'`);
  let databases = 0;
  const findPrimary = async (old?: Node): Promise<Node | undefined> => {
    const leaders = await Promise.all(nodes.map(async (node) => ((await isPrimary(node)) ? node : undefined)));
    return leaders.find((node) => node !== undefined && node !== old);
  };
  const configure = async (settings: object): Promise<void> => {
    const body = JSON.stringify(settings);
    const answer = await fetch(`http://127.0.0.1:${places[0]?.apiPort}/config`, { method: "PATCH", body });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
  };
  const kept = closers.move();
  return {
    etcd,
    haproxy,
    whole,
    makeDatabase: async () => {
      const name = `runnel_${++databases}`;
      const leader = await until("a primary", () => findPrimary(), startMaxMs);
      await leader.query(`create database ${name} owner runnel`);
      return `postgres://runnel:${password}@127.0.0.1:${proxyPort}/${name}`;
    },
    etcdRoles: () => until("a leader of etcd", () => findEtcdRoles(etcdPlaces, etcd), startMaxMs),
    refuseFailsafe: (isRefused) => {
      isFailsafeRefused = isRefused;
    },
    findPrimary,
    isPrimary,
    configure,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Starts a program whose output goes to the end of a file in `logs`. */
function startLogged(
  [program = "", ...words]: readonly string[],
  { name, logs, ...options }: { name: string; logs: string; env: NodeJS.ProcessEnv; cwd?: string },
): ChildProcess {
  const log = openSync(join(logs, name), "a");
  try {
    return spawn(program, words, { ...options, stdio: ["ignore", log, log] });
  } finally {
    closeSync(log);
  }
}

/** Returns the end of each program's output. */
async function readLogs(logs: string): Promise<string> {
  const names = (await readdir(logs)).sort();
  const ends = names.map(async (name) => {
    const lines = (await readFile(join(logs, name), "utf8")).trimEnd().split("\n");
    return `${name}:\n${lines.slice(-shownLines).join("\n")}`;
  });
  return (await Promise.all(ends)).join("\n\n");
}

function startEtcd({ name, folder, port, peerPort }: EtcdPlace, places: readonly EtcdPlace[], logs: string): Program {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const env = {
    PATH: process.env.PATH,
    ...parseEnv(readFileSync(join(repositoryRoot, "deploy/ha/etcd.env"), "utf8")),
    ETCD_NAME: name,
    ETCD_DATA_DIR: folder,
    ETCD_LISTEN_CLIENT_URLS: client,
    ETCD_ADVERTISE_CLIENT_URLS: client,
    ETCD_LISTEN_PEER_URLS: peer,
    ETCD_INITIAL_ADVERTISE_PEER_URLS: peer,
    ETCD_INITIAL_CLUSTER: places.map((each) => `${each.name}=http://127.0.0.1:${each.peerPort}`).join(","),
  };
  return new Program(() => startLogged(["etcd"], { name, logs, env }));
}

type Paths = Pick<Node, "toPostgres" | "toPatroni" | "toEtcd">;

async function startNode({ name, folder, port, apiPort }: Place, paths: Paths, logs: string): Promise<Node> {
  const asUser = await makeFolder(folder);
  const data = join(folder, "data");
  const environment = {
    PATH: process.env.PATH,
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: paths.toEtcd.ports.map((etcdPort) => `127.0.0.1:${etcdPort}`).join(","),
    // Patroni would ask etcd for the addresses of its members, and connect to them beside the path.
    PATRONI_ETCD3_USE_PROXIES: "true",
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${apiPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${paths.toPatroni.ports[0]}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${paths.toPostgres.ports[0]}`,
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_BIN_DIR: inject("postgresPrograms"),
    PATRONI_POSTGRESQL_PGPASS: join(folder, "pgpass"),
    PATRONI_SUPERUSER_USERNAME: "postgres",
    PATRONI_SUPERUSER_PASSWORD: password,
    PATRONI_REPLICATION_USERNAME: "replicator",
    PATRONI_REPLICATION_PASSWORD: password,
  };
  const file = join(repositoryRoot, "deploy/ha/patroni.yml");
  const command = [...asUser, inject("patroni"), file];
  const patroni = new Program(() => startLogged(command, { name, logs, env: environment, cwd: folder }));
  const postgres = (): readonly number[] => familyOf(readPid(data));
  return {
    name,
    patroni,
    ...paths,
    postgres,
    signal: (signal) => signalFamily(readPid(data), signal),
    query: async (text) => {
      const client = new pg.Client({
        host: "127.0.0.1",
        port,
        user: "postgres",
        password,
        database: "postgres",
        connectionTimeoutMillis: connectMaxMs,
      });
      // A lost connection rejects the query. Without a listener, it also ends the process.
      client.on("error", () => {});
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

/**
 * Makes the folder of a node, and returns the start of the node's commands. Postgres refuses to run as root: then its processes
 * belong to the account of Debian's package, which may read what root may read, such as this checkout.
 */
async function makeFolder(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { mode: 0o700 });
  if (userInfo().uid !== 0) {
    return [];
  }
  const [, , uid = "", gid = ""] = /^postgres:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  await chown(folder, Number(uid), Number(gid));
  const mayRead = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"];
  return ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", ...mayRead, "--"];
}

async function stopNode(node: Node): Promise<void> {
  await node.patroni.kill();
  node.signal("SIGKILL");
  await until("a node to be gone", () => node.postgres().length === 0);
}

function startHaproxy(port: number, places: readonly Place[], logs: string): Program {
  const addresses = places.flatMap(({ port: nodePort, apiPort }, index) => [
    [`NODE_${index + 1}`, `127.0.0.1:${nodePort}`],
    [`NODE_${index + 1}_API_PORT`, String(apiPort)],
  ]);
  const env = { PATH: process.env.PATH, POSTGRES_BIND: `127.0.0.1:${port}`, ...Object.fromEntries(addresses) };
  const file = join(repositoryRoot, "deploy/ha/haproxy.cfg");
  return new Program(() => startLogged(["haproxy", "-f", file], { name: "haproxy", logs, env }));
}

async function hasVersion(places: readonly EtcdPlace[]): Promise<boolean> {
  const asked = places.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/version`)).text());
  const answers = await Promise.allSettled(asked);
  return answers.every((each) => each.status === "fulfilled" && /"etcdcluster":"\d/.test(each.value));
}

/** Returns undefined while the members disagree or one of them does not answer. */
async function findEtcdRoles(places: readonly EtcdPlace[], programs: readonly Program[]) {
  const answers = await Promise.all(places.map(({ port }) => readEtcdStatus(port)));
  const isLeader = answers.map((answer) => answer !== undefined && answer.leader === answer.header.member_id);
  const [leader, ...more] = programs.filter((_, index) => isLeader[index]);
  const agree = new Set(answers.map((answer) => answer?.leader)).size === 1;
  return leader !== undefined && more.length === 0 && agree
    ? { leader, followers: programs.filter((program) => program !== leader) }
    : undefined;
}

interface EtcdStatus {
  readonly leader: string;
  readonly header: { readonly member_id: string };
}

async function readEtcdStatus(port: number): Promise<EtcdStatus | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v3/maintenance/status`, {
      method: "POST",
      body: "{}",
      signal: AbortSignal.timeout(connectMaxMs),
    });
    return (await answer.json()) as EtcdStatus;
  } catch {
    return undefined;
  }
}

async function findRoles(places: readonly Place[], nodes: readonly Node[], role: StandbyRole) {
  const answers = await Promise.all(places.map(({ apiPort }) => readMembers(apiPort)));
  const [first] = answers;
  if (first === undefined || answers.some((answer) => answer === undefined)) {
    return undefined;
  }
  const nodesThat = (test: (member: Member) => boolean): Node[] =>
    nodes.filter(({ name }) => first.members.some((member) => member.name === name && test(member)));
  const [primary] = nodesThat((member) => member.role === "leader");
  const standbys = nodesThat((member) => member.role === role && member.state === "streaming");
  return primary !== undefined && standbys.length === 2 ? { primary, standbys } : undefined;
}

async function isPrimary(node: Node): Promise<boolean> {
  try {
    const [row] = await node.query<{ standby: boolean }>("select pg_is_in_recovery() as standby");
    return row?.standby === false;
  } catch {
    return false;
  }
}

async function readMembers(apiPort: number): Promise<Membership | undefined> {
  try {
    return (await (await fetch(`http://127.0.0.1:${apiPort}/cluster`)).json()) as Membership;
  } catch {
    return undefined;
  }
}
