// What a client has named stays its own: in races, after its sessions are gone, on every replica, and after an upgrade.

import { symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { test } from "../fixtures.ts";
import { credentialsOf, testKeys } from "../harness/credentials.ts";
import { query, testDatabase } from "../harness/database.ts";
import type { TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { agent, type Door, doors, openPlace, startNamed } from "./named-directories.ts";

const [rest, grpc] = doors as [Door, Door];
const clients = testKeys.map(({ client }) => client);
const anothers = /belongs to another client/;

test("of many clients that name nested directories at the same moment on two replicas, exactly one gets them", async () => {
  const names = ["all/a", "all/a/in", "all/a/in/deep", "all/a/in/../in", "all/link"];
  const place = openPlace("all/a/in/deep");
  symlinkSync(place.at("all/a/in"), place.at("all/link"));
  const databaseUrl = await testDatabase();
  const replicas = await Promise.all([1, 2].map(() => startNamed(["/"], { databaseUrl, databasePoolSize: 8 })));
  for (let round = 0; round < 10; round++) {
    await query(databaseUrl, "delete from work_dir_claim");
    const asked = clients.flatMap((client) => names.map((name) => ({ client, named: place.at(name) })));
    const outcomes = await Promise.all(
      asked.map(async ({ client, named }, index) => {
        const service = replicas[index % 2] as TestService;
        const { refusal } = await (index % 3 === 0 ? rest : grpc).create(service, client, named);
        return { client, refusal };
      }),
    );
    const winners = new Set(outcomes.filter(({ refusal }) => refusal === undefined).map(({ client }) => client));
    expect(winners.size).toBe(1);
    expect(outcomes.filter(({ client }) => winners.has(client)).every(({ refusal }) => refusal === undefined)).toBe(
      true,
    );
    for (const { client, refusal } of outcomes.filter(({ client }) => !winners.has(client))) {
      expect({ client, refusal }).toEqual({ client, refusal: expect.stringMatching(anothers) });
    }
  }
});

test("a directory stays its client's after the session is deleted and purged, and on a replica that starts later", async () => {
  const place = openPlace("all/a");
  const databaseUrl = await testDatabase();
  const service = await startNamed([place.at("all")], { databaseUrl });
  const api = findSurface("REST").connect(service, "tenant-a");
  const { session_id: id } = await api.createSession({ agent, workDir: place.at("all/a") });
  const headers = credentialsOf("tenant-a");
  const purged = await fetch(`${service.url}/v1/sessions/${id}:purge`, { method: "POST", headers, body: "{}" });
  expect(purged.status).toBe(200);
  expect(await rest.create(service, "tenant-b", place.at("all/a"))).toMatchObject({
    refusal: expect.stringMatching(anothers),
  });
  await service.close();
  const later = await startNamed([place.at("all")], { databaseUrl });
  expect(await rest.create(later, "tenant-b", place.at("all"))).toMatchObject({
    refusal: expect.stringMatching(anothers),
  });
  // As the documentation says.
  await query(databaseUrl, `delete from work_dir_claim where path = '${place.at("all/a")}'`);
  expect(await rest.create(later, "tenant-b", place.at("all/a"))).toEqual({ refusal: undefined });
});

test("a session that is refused for another reason claims nothing", async () => {
  const place = openPlace("all/a");
  const service = await startNamed([place.at("all")]);
  const api = findSurface("REST").connect(service, "tenant-a");
  await api.createSession({ sessionId: "taken", agent });
  const call = api.createSession({ sessionId: "taken", agent, workDir: place.at("all/a") });
  await expect(call).rejects.toThrow("already exists");
  expect(await rest.create(service, "tenant-b", place.at("all/a"))).toEqual({ refusal: undefined });
});

test("a run waits for claims that the database cannot be asked for, and does not fail", async ({ databaseUrl }) => {
  const place = openPlace("all/a/in");
  const service = await startNamed([place.at("all")], { databaseUrl });
  const api = findSurface("gRPC").connect(service, "tenant-a");
  const { session_id: sessionId } = await api.createSession({ agent, workDir: place.at("all/a") });
  const locker = new pg.Client({ connectionString: databaseUrl });
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query("begin; lock table work_dir_claim");
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "List the files. pace=0" });
  const waiting = async (): Promise<string | undefined> => {
    const [row] = await query<{ since: string }>(
      databaseUrl,
      `select query_start::text as since from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%work_dir_claim%'`,
    );
    return row?.since;
  };
  const first = await until("the run to ask", waiting);
  await until("the run to ask again", async () => ((await waiting()) ?? first) !== first, 30_000);
  await locker.query("commit");
  const results: unknown[] = [];
  for await (const result of api.followRun(runId)) {
    results.push(result);
  }
  expect(JSON.stringify(results)).toMatch(/in\//);
});

test("a path that is too long for a claim is refused", async () => {
  // Of some 1,300 characters.
  const long = `all/${"ä".repeat(120)}`.concat(`/${"ä".repeat(120)}`.repeat(9));
  const place = openPlace(long);
  const service = await startNamed([place.at("all")]);
  expect(await rest.create(service, "tenant-a", place.at(long))).toMatchObject({
    refusal: "invalid work_dir: must have at most 2000 bytes without links",
  });
});

test("without credentials clients share directories, and none owns one later", async ({ databaseUrl }) => {
  const place = openPlace("all/a");
  const open = await startNamed(["/"], { databaseUrl, authApiKeys: [] });
  for (const client of ["alice", "bob"]) {
    const body = JSON.stringify({ agent, work_dir: place.at("all/a") });
    const headers = { "x-client-id": client };
    const { status } = await fetch(`${open.url}/v1/sessions`, { method: "POST", headers, body });
    expect({ client, status }).toEqual({ client, status: 201 });
  }
  expect(await query(databaseUrl, "select path from work_dir_claim")).toEqual([]);
});

describe("sessions of an older version", () => {
  test("get their directories when they first use them, the first one wins, and the other's tools are refused", async () => {
    const place = openPlace("all/a/in");
    const databaseUrl = await testDatabase();
    const service = await startNamed([place.at("all")], { databaseUrl });
    const work = async (client: string, workDir: string): Promise<string> => {
      const api = findSurface("gRPC").connect(service, client);
      const { session_id: sessionId } = await api.createSession({ agent });
      await query(databaseUrl, `update session set work_dir = '${workDir}' where name = '${sessionId}'`);
      const { run_id: runId } = await api.sendMessage({ sessionId, message: "List the files. pace=0" });
      const results: unknown[] = [];
      for await (const result of api.followRun(runId)) {
        results.push(result);
      }
      return JSON.stringify(results);
    };
    expect(await work("tenant-a", place.at("all/a"))).toMatch(/in\//);
    const refused = await work("tenant-b", place.at("all/a/in"));
    expect(refused).toMatch(anothers);
    expect(refused).not.toContain("tenant-a");
    expect(await work("tenant-a", place.at("all/a"))).toMatch(/in\//);
    expect(await grpc.create(service, "tenant-b", place.at("all/a"))).toMatchObject({
      refusal: expect.stringMatching(anothers),
    });
  });

  test("keep the names with links in them that the migration claimed", async () => {
    const place = openPlace("all/real");
    symlinkSync(place.at("all/real"), place.at("all/link"));
    const databaseUrl = await testDatabase();
    const service = await startNamed([place.at("all")], { databaseUrl });
    const path = place.at("all/link");
    await query(databaseUrl, `insert into work_dir_claim (path, client) values ('${path}', 'key/tenant-a')`);
    expect((await rest.create(service, "tenant-b", path)).refusal).toMatch(anothers);
    expect(await rest.create(service, "tenant-a", path)).toEqual({ refusal: undefined });
    expect((await rest.create(service, "tenant-b", place.at("all/real"))).refusal).toMatch(anothers);
  });

  test("keep what they named first, from the migration on", async ({ databaseUrl: url }) => {
    await query(url, "drop table work_dir_claim");
    const sessions = [
      ["key/alice", "/srv/a//b/./c/../"],
      ["key/bob", "/srv/a/b/c"],
      ["key/bob", "/srv/a"],
      ["key/bob", "/srv/a0"],
      ["key/alice", "/srv/a/b/d"],
      ["key/carol", "/../srv/ä/%_/x/../../y/"],
      ["key/dave", "/srv/ä/%_"],
      ["key/dave", "/srv/ä"],
      ["key/erin", `/${"e".repeat(4_000)}`],
      ["key/erin", "/"],
      ["key/bob", "/srv/a0/b"],
    ];
    for (const [index, [client, workDir]] of sessions.entries()) {
      await query(
        url,
        `insert into session (id, client, name, agent, work_dir, create_time)
         values (gen_random_uuid(), '${client}', 's${index}', '', '${workDir}', now() + ${index} * interval '1 second')`,
      );
    }
    await query(url, await readFile(join(repositoryRoot, "migrations/0028_work_dir_claim.sql"), "utf8"));
    expect(await query(url, "select client, path from work_dir_claim order by create_time")).toEqual([
      { client: "key/alice", path: "/srv/a/b" },
      { client: "key/bob", path: "/srv/a0" },
      { client: "key/alice", path: "/srv/a/b/d" },
      { client: "key/carol", path: "/srv/ä/y" },
      { client: "key/dave", path: "/srv/ä/%_" },
      { client: "key/bob", path: "/srv/a0/b" },
    ]);
  });
});
