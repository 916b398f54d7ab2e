// Checks the database: whether it is reachable, new enough and safe, whether its schema fits this version, and whether its
// clock and its connections fit this machine.

import { processesOf } from "../../app/workers.ts";
import type { Config } from "../../platform/config/keys.ts";
import { findDiskProblem } from "../../platform/database/embedded/disk.ts";
import { lacksCharacters } from "../../platform/database/migrate.ts";
import { type DatabaseFacts, probeDatabase, probeEmbedded, type ServerFacts } from "../../platform/database/probe.ts";
import { mayLoseCommits, type Replication, shortestLeaseMs } from "../../platform/database/replication.ts";
import { type CheckContext, type Finding, fail, ok, warn, why } from "./check.ts";

const oldestMajor = 15;
/** Batch writers, LISTEN, NOTIFY, the probe and the upkeep of runs, beside the pool; `config explain databasePoolSize` says the same. */
const connectionsBesidePool = 10;
/** Signatures are valid for 120 s, and the network takes a part of that. */
const skewMsMax = 60_000;
/** Synchronised clocks differ by milliseconds. */
const skewMsUsual = 2_000;

/** Checks the database of DATABASE_URL, or the embedded Postgres. */
export async function checkDatabase(context: CheckContext): Promise<Finding[]> {
  const { config } = context;
  if (config.databaseUrl !== "") {
    return await probe(context, { connectionString: config.databaseUrl }, "the database of DATABASE_URL");
  }
  let embedded: ReturnType<typeof probeEmbedded>;
  try {
    embedded = probeEmbedded(config.databaseDir);
  } catch (error) {
    return [
      fail("database", why(error), "`npm ci` with optional packages, or set DATABASE_URL to a Postgres of your own"),
    ];
  }
  const { version, home, dataVersion, address } = embedded;
  const major = version.split(".")[0];
  if (dataVersion !== undefined && dataVersion !== major) {
    const fix = `dump the data with Postgres ${dataVersion} and restore it into a new directory`;
    return [fail("database", `${home} holds data of Postgres ${dataVersion}, and Postgres ${major} is installed`, fix)];
  }
  if (address !== undefined) {
    return await probe(context, address, `the embedded Postgres in ${home}`);
  }
  const problem = findDiskProblem(home, "");
  if (problem !== undefined) {
    return [fail("database", `the embedded Postgres cannot write to ${home}`, problem)];
  }
  const state = dataVersion === undefined ? "which the first start makes" : "which does not run now";
  return [ok("database", `embedded Postgres ${version} is installed, with data in ${home}, ${state}`)];
}

async function probe(
  { config, clock }: CheckContext,
  address: Parameters<typeof probeDatabase>[0],
  what: string,
): Promise<Finding[]> {
  let facts: DatabaseFacts;
  try {
    facts = await probeDatabase(address, clock);
  } catch (error) {
    const fix = "start it, or check DATABASE_URL; leave that empty to use the embedded Postgres";
    return [fail("database", `${what} cannot be used (${why(error)})`, fix)];
  }
  return [
    judgeServer(facts.server, what),
    judgeDurability(facts.server),
    judgeReplication(facts.replication),
    ...(config.databaseFailoverSeconds > 0 ? [judgeLease(config)] : []),
    judgeSchema(facts.schema),
    judgeClock(facts),
    judgeConnections(facts.server, (config.databasePoolSize + connectionsBesidePool) * processesOf(config)),
  ];
}

/** Judges the version of the server, whether it takes writes, and whether the database holds every text. */
export function judgeServer({ version, versionNumber, isStandby, encoding }: ServerFacts, what: string): Finding {
  const found = `${what} is Postgres ${version}`;
  if (versionNumber < oldestMajor * 10_000) {
    return fail("database", found, `use Postgres ${oldestMajor} or newer`);
  }
  if (isStandby) {
    return fail("database", `${found}, a standby that takes no writes`, "point DATABASE_URL at the primary");
  }
  if (lacksCharacters(encoding)) {
    return fail("database", `${found} with the encoding ${encoding}`, "use a database with the encoding UTF8");
  }
  return ok("database", found);
}

type Durability = Pick<ServerFacts, "fsync" | "fullPageWrites" | "synchronousCommit">;

/** Judges the settings without which an acknowledged result can be lost when the machine stops. */
export function judgeDurability({ fsync, fullPageWrites, synchronousCommit }: Durability): Finding {
  const found = `fsync ${fsync}, synchronous_commit ${synchronousCommit}, full_page_writes ${fullPageWrites}`;
  const off = Object.entries({ fsync, synchronous_commit: synchronousCommit, full_page_writes: fullPageWrites })
    .filter(([, value]) => value === "off")
    .map(([name]) => name);
  if (off.length === 0) {
    return ok("durability", found);
  }
  const fix = `switch on ${off.join(" and ")} of the server, or of its user or in DATABASE_URL where it was set there`;
  return fail("durability", found, fix);
}

/** Judges whether a failover keeps acknowledged results. */
export function judgeReplication(replication: Replication): Finding {
  const { standbys, isSynchronous } = replication;
  const found = `${standbys === 1 ? "1 standby" : `${standbys} standbys`}, ${isSynchronous ? "synchronous" : "asynchronous"}`;
  if (!mayLoseCommits(replication)) {
    return ok("replication", standbys === 0 ? "no standby is connected" : found);
  }
  const fix = "set synchronous_standby_names: a standby that is promoted may lack the newest results";
  return warn("replication", found, fix);
}

/** Judges whether runs outlive a failover without a restart of their turn. */
export function judgeLease({
  databaseFailoverSeconds,
  runsLeaseMs,
}: Pick<Config, "databaseFailoverSeconds" | "runsLeaseMs">): Finding {
  const neededMs = shortestLeaseMs(databaseFailoverSeconds);
  const found = `runs.lease_ms is ${runsLeaseMs}, and a failover takes ${databaseFailoverSeconds} s`;
  return runsLeaseMs < neededMs
    ? warn("lease", found, `set runs.lease_ms to ${neededMs} or more: runs restart their turn otherwise`)
    : ok("lease", found);
}

function judgeSchema({ pending, unknown }: DatabaseFacts["schema"]): Finding {
  if (unknown.length > 0) {
    const fix = "start the newer version of Runnel that made it, or use another database";
    return fail("schema", `newer than this version, which does not know ${unknown.join(", ")}`, fix);
  }
  if (pending.length > 0) {
    return warn(
      "schema",
      `not applied yet: ${pending.join(", ")}`,
      "`runnel migrate`; `serve` does it at its start too",
    );
  }
  return ok("schema", "up to date");
}

/** Judges the difference of the clocks. Only the part beyond the error of the measurement counts. */
export function judgeClock({ skewMs, skewErrorMs }: Pick<DatabaseFacts, "skewMs" | "skewErrorMs">): Finding {
  const sureMs = Math.max(0, Math.abs(skewMs) - skewErrorMs);
  const found = `the database's clock is ${showSeconds(skewMs)} ${skewMs < 0 ? "behind" : "ahead of"} this machine's`;
  const fix = "keep both clocks in step with NTP: signatures are good for 120 s";
  if (sureMs > skewMsMax) {
    return fail("clock", found, fix);
  }
  return sureMs > skewMsUsual
    ? warn("clock", found, fix)
    : ok("clock", `within ${showSeconds(skewMsUsual)} of the database's`);
}

function showSeconds(ms: number): string {
  return `${(Math.abs(ms) / 1_000).toFixed(1)} s`;
}

/** Judges whether the server has enough free connections for a service. */
export function judgeConnections({ connectionsMax, foreignConnections }: ServerFacts, needed: number): Finding {
  const free = connectionsMax - foreignConnections;
  const found = `${connectionsMax} for users, ${foreignConnections} taken by other programs; serve needs up to ${needed}`;
  if (free >= needed) {
    return ok("connections", `${found}: room for ${Math.floor(free / needed)}`);
  }
  const fix =
    "raise max_connections of the server, or the limit of its role or database, or lower RUNNEL_DATABASE_POOL_SIZE or RUNNEL_SERVER_PROCESSES";
  return fail("connections", found, fix);
}
