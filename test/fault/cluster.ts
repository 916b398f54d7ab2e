// Processes of the service on one database, and helpers for runs on them.

import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { loadConfig } from "../../src/app/settings.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { openProvider as openFakeProvider, openFolder } from "../fixtures.ts";
import { query, testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { processSettings, type ServiceProcess, startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

/** What a caller needs of a service of the cluster. */
export interface Neighbour {
  readonly url: string;
  readonly target: string;
  readonly client: GrpcClient;
}

export interface Member extends ServiceProcess, Neighbour {}

export interface Cluster {
  readonly databaseUrl: string;
  /** Starts one more process, with additional settings if given. */
  start(own?: Readonly<Record<string, string>>): Promise<Member>;
  /**
   * Starts a service in the process of the test, with the settings of the cluster. It continues what a dead process has left, and is
   * there at once: a process needs most of a second of a core to start.
   */
  startHere(): Promise<Neighbour>;
}

export async function openCluster(environment: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const databaseUrl = await testDatabase();
  const workRoot = await openFolder();
  const shared = { RUNNEL_DATABASE_URL: databaseUrl, RUNNEL_SESSIONS_WORK_ROOT: workRoot, ...environment };
  return {
    databaseUrl,
    start: async (own = {}) => {
      const member = await startProcess({ ...shared, ...own });
      return { ...member, client: new GrpcClient(member.target) };
    },
    startHere: async () => {
      const config = loadConfig({ ...processSettings, ...shared });
      const { url, target } = await startService({ ...config, serverPort: 0 });
      return { url, target, client: new GrpcClient(target) };
    },
  };
}

/** A fake provider that is closed after the test, and the environment that directs a cluster's runs to it. */
export async function openProvider(): Promise<{ provider: FakeProvider; environment: Record<string, string> }> {
  const provider = await openFakeProvider();
  const environment = {
    RUNNEL_DEFAULTS_MODEL: "openai:fake",
    RUNNEL_PROVIDERS_OPENAI_KEY: "a-key",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
  };
  return { provider, environment };
}

export type Agent = MessageInitShape<typeof SessionService.method.createSession.input>["agent"];

/** Starts a run in a session of its own. */
export async function startRun(
  client: GrpcClient,
  message: string,
  agent: Agent = { name: "fault" },
): Promise<{ sessionId: string; runId: string }> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  return { sessionId, runId };
}

/**
 * Starts a run that the process itself executes. On a busy machine the process that admits a run need not get it: then another run is
 * started.
 */
export async function startOwnRun(
  { databaseUrl }: Cluster,
  member: Member,
  message: string,
): Promise<{ sessionId: string; runId: string }> {
  return await until("the process to own a run", async () => {
    const started = await startRun(member.client, message);
    return (await ownerOf(databaseUrl, started.runId)) === replicaIdsOf(member).at(-1) && started;
  });
}

export type Run = NonNullable<MessageShape<typeof RunService.method.getRun.output>["run"]>;

export async function getRun(client: GrpcClient, runId: string): Promise<Run> {
  const { run } = await client.call(RunService.method.getRun, { runId });
  if (run === undefined) {
    throw new Error(`no run ${runId}`);
  }
  return run;
}

export async function ownerOf(databaseUrl: string, runId: string): Promise<string | null> {
  const [row] = await query<{ owner: string | null }>(databaseUrl, "select owner from run where id = $1", [runId]);
  if (row === undefined) {
    throw new Error(`no run ${runId}`);
  }
  return row.owner;
}

/** The replica ids of a process, in order, from its log. */
export function replicaIdsOf(member: ServiceProcess): string[] {
  return linesOf(member, "lease.acquired").map((line) => String(line.replicaId));
}

/** The log lines of one event. */
export function linesOf(member: ServiceProcess, event: string): Record<string, unknown>[] {
  return member
    .log()
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter((line) => line.msg === event);
}
