// Two cells behind the router of deploy/cells: each with a database of its own. Every kind of credential reaches its cell, and the
// death of one cell does not touch the other.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService, type TailRunResponse } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { familyOf, readPid, signalFamily } from "../fault/database/process-family.ts";
import { openFolder } from "../fixtures.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { type ServiceProcess, startProcess } from "../harness/process.ts";
import { signV1, signV2 } from "../harness/signing.ts";
import { readSse } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";

const adminToken = "the-admin-token-of-these-tests";
const sharedSecret = "the-secret-that-old-callers-share";
const probes = 50;
const probeGapMs = 20;
const folder = join(repositoryRoot, "deploy/cells");
const { createSession, getSession, sendMessage, listSessions } = SessionService.method;

interface Cell {
  readonly name: string;
  /** A client with a key of the settings. */
  readonly client: string;
  readonly key: string;
  readonly service: ServiceProcess;
  /** Kills the service and its Postgres. */
  kill(): Promise<void>;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function startCell(name: string, client: string, settings: Readonly<Record<string, string>> = {}): Promise<Cell> {
  const home = await mkdtemp(join(tmpdir(), `runnel-cell-${name}-`));
  await chmod(home, 0o711);
  const key = `key-of-${client}-in-the-settings`;
  const postgres = (): readonly number[] => familyOf(readPid(join(home, "postgres")));
  const killPostgres = (): void => signalFamily(readPid(join(home, "postgres")), "SIGKILL");
  onTestFinished(async () => {
    killPostgres();
    await until("Postgres to be gone", () => postgres().length === 0);
    await rm(home, { recursive: true, force: true });
  });
  const service = await startProcess({
    RUNNEL_DATABASE_DIR: home,
    RUNNEL_AUTH_CELL: name,
    RUNNEL_AUTH_API_KEYS: `${client}=${key}`,
    RUNNEL_AUTH_ADMIN_TOKEN: adminToken,
    ...settings,
  });
  const kill = async (): Promise<void> => {
    await service.kill();
    killPostgres();
  };
  return { name, client, key, service, kill };
}

interface Router {
  readonly url: string;
  readonly target: string;
  restart(): Promise<void>;
}

async function startRouter([a, b]: readonly [Cell, Cell]): Promise<Router> {
  const maps = await openFolder();
  await copyFile(join(folder, "made.map"), join(maps, "made.map"));
  const lines = (field: (cell: Cell) => string): string =>
    [a, b].map((cell) => `${field(cell)} ${cell.name}\n`).join("");
  await writeFile(
    join(maps, "keys.map"),
    lines(({ key }) => createHash("sha256").update(key).digest("hex")),
  );
  await writeFile(
    join(maps, "clients.map"),
    lines(({ client }) => client),
  );
  const [port = 0] = await findFreePorts(1);
  const env = {
    PATH: process.env.PATH,
    CELLS_BIND: `127.0.0.1:${port}`,
    CELL_A_1: a.service.target,
    CELL_B_1: b.service.target,
  };
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn("haproxy", ["-C", maps, "-f", join(folder, "haproxy.cfg")], { stdio: "inherit", env });
    await until("the router to serve", async () => {
      expect(child.exitCode).toBeNull();
      return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
    });
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
  };
  let running = await start();
  onTestFinished(() => end(running));
  const restart = async (): Promise<void> => {
    await end(running);
    running = await start();
  };
  return { url, target: `127.0.0.1:${port}`, restart };
}

async function openCells(): Promise<{ a: Cell; b: Cell; router: Router }> {
  const [a, b] = await Promise.all([startCell("a", "billing"), startCell("b", "research")]);
  return { a, b, router: await startRouter([a, b]) };
}

/** Resolves with the sessions that the client has in a cell, asked there. */
async function sessionsIn({ service, key }: Cell): Promise<readonly string[]> {
  const { sessions } = await new GrpcClient(service.target, bearer(key)).call(listSessions, {});
  return sessions.map(({ sessionId }) => sessionId);
}

async function post(url: string, path: string, headers: Record<string, string>, body: object): Promise<Response> {
  const json = { "content-type": "application/json" };
  return await fetch(url + path, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

test("every kind of credential reaches the cell of its client", async () => {
  const { a, b, router } = await openCells();
  for (const cell of [a, b]) {
    // A key of the settings, over gRPC and REST.
    const grpc = new GrpcClient(router.target, bearer(cell.key));
    const { sessionId } = await grpc.call(createSession, { agent: { name: "cells" } });
    expect(await sessionsIn(cell)).toEqual([sessionId]);
    const rest = await fetch(`${router.url}/v1/sessions/${sessionId}`, { headers: bearer(cell.key) });
    expect(rest.status).toBe(200);

    // A signature, v1 and v2, by a client of the settings.
    const path = `/v1/sessions/${sessionId}`;
    for (const sign of [signV1, signV2]) {
      const headers = sign({ secret: cell.key, clientId: cell.client, path });
      expect((await fetch(router.url + path, { headers })).status).toBe(200);
    }

    // A key that the cell made.
    const admin = new GrpcClient(cell.service.target, bearer(adminToken));
    const { key } = await admin.call(AuthService.method.createApiKey, { clientId: cell.client, displayName: "made" });
    expect(key).toMatch(new RegExp(`^rk_${cell.name}\\.[A-Za-z0-9_-]{43}$`));
    const made = new GrpcClient(router.target, bearer(key));
    expect((await made.call(getSession, { sessionId })).session?.sessionId).toBe(sessionId);

    // A ticket, as a page uses it.
    const { runId } = await made.call(sendMessage, { sessionId, message: "hello pace=0 words=5" });
    const asked = await post(router.url, "/v1/auth/tickets", bearer(key), { target: { session_id: sessionId } });
    const { ticket } = (await asked.json()) as { ticket: string };
    expect(ticket).toMatch(new RegExp(`^rt_${cell.name}\\.`));
    const events = await Array.fromAsync(readSse(`${router.url}${path}/stream?ticket=${ticket}`, {}, null));
    expect(events.at(-1)?.event).toBe("done");
    const results = await Array.fromAsync(grpc.stream(RunService.method.tailRun, { runId }));
    expect(results.flatMap((page) => page.results).at(-1)?.payload.case).toBe("runCompleted");
  }
});

test("a caller without a client id, and one that nobody knows, meet the first cell", async () => {
  const [a, b] = await Promise.all([
    startCell("a", "billing", { RUNNEL_AUTH_API_KEYS: "", RUNNEL_AUTH_HMAC_SECRET: sharedSecret }),
    startCell("b", "research"),
  ]);
  const router = await startRouter([a, b]);
  const body = JSON.stringify({ agent: { name: "old" } });
  const headers = { ...signV1({ secret: sharedSecret, path: "", body }), "content-type": "application/json" };
  const created = await fetch(`${router.url}/v1/sessions`, { method: "POST", headers, body });
  expect(created.status).toBe(201);
  expect((await fetch(`${router.url}/v1/sessions`, { headers: bearer("rk_z.unknown") })).status).toBe(401);
});

test("the death of a cell with its Postgres does not touch the other, and the router says so to its clients", async () => {
  const { a, b, router } = await openCells();
  const other = new GrpcClient(router.target, bearer(b.key));
  const { sessionId } = await other.call(createSession, { agent: { name: "cells" } });
  const { runId } = await other.call(sendMessage, { sessionId, message: "words=100 pace=10" });
  const following = Array.fromAsync(other.stream(RunService.method.tailRun, { runId }));
  await a.kill();
  for (let probe = 0; probe < probes; probe++) {
    expect((await fetch(`${router.url}/v1/sessions/${sessionId}`, { headers: bearer(b.key) })).status).toBe(200);
    await other.call(getSession, { sessionId });
    await delay(probeGapMs);
  }
  const sequences = (await following).flatMap(({ results }) => results).map(({ sequence }) => Number(sequence));
  expect(sequences).toEqual(Array.from(sequences, (_, index) => index + 1));
  const refused = await fetch(`${router.url}/v1/sessions`, { headers: bearer(a.key) });
  expect([refused.status, await refused.json()]).toEqual([503, { error: "the cell is unavailable, try again" }]);
  const lost = new GrpcClient(router.target, bearer(a.key)).call(listSessions, {});
  await expect(lost).rejects.toMatchObject({ code: status.UNAVAILABLE });
});

test("a reader resumes after the router was killed, and the run did not notice", async () => {
  const { b, router } = await openCells();
  const client = new GrpcClient(router.target, bearer(b.key));
  const { sessionId } = await client.call(createSession, { agent: { name: "cells" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "words=100 pace=10" });
  const sequences: number[] = [];
  const read = async (): Promise<void> => {
    const after = BigInt(sequences.at(-1) ?? 0);
    for await (const page of client.stream(RunService.method.tailRun, { runId, after })) {
      const { results } = page as TailRunResponse;
      sequences.push(...results.map(({ sequence }) => Number(sequence)));
    }
  };
  const cut = expect(read()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await until("some results", () => sequences.length > 5);
  await router.restart();
  await cut;
  await read();
  expect(sequences).toEqual(Array.from(sequences, (_, index) => index + 1));
  expect(sequences.length).toBeGreaterThan(5);
});
