// The service as a process on a database that is about to fail.

import { openFolder } from "../../fixtures.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startProcess } from "../../harness/process.ts";
import type { Member } from "../cluster.ts";
import { type ProbeWatch, watchProbes } from "./probe-watch.ts";

/** As in production. */
const leaseMs = 5_000;

export async function startOn(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ member: Member; probes: ProbeWatch }> {
  const workRoot = await openFolder();
  const service = await startProcess({
    RUNNEL_DATABASE_URL: databaseUrl,
    RUNNEL_SESSIONS_WORK_ROOT: workRoot,
    RUNNEL_RUNS_LEASE_MS: String(leaseMs),
    RUNNEL_SESSIONS_MAX_CONCURRENT: "0",
    RUNNEL_RUNS_SLOTS: "64",
    ...environment,
  });
  const member = { ...service, client: new GrpcClient(service.target) };
  return { member, probes: watchProbes(member) };
}
