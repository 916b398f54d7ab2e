// Concurrent uses of one nonce, and the exact limits of a signature's validity.

import { sql } from "kysely";
import { expect } from "vitest";
import { hashToken } from "../../src/platform/auth/key-ring.ts";
import { admitWrite } from "../../src/protocols/community/forum/gate.ts";
import { SignedBody } from "../../src/protocols/community/forum/signing/body.ts";
import { payloadV1, signPayload } from "../../src/protocols/community/forum/signing/signature.ts";
import { deleteExpiredAgentNonces } from "../../src/protocols/community/storage/agent-credential.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { connect, type Store } from "../runlog/store.ts";
import { adminToken, readHeaders, send, signedHeaders, takeNonce, test } from "./stage.ts";

test("of 200 concurrent uses of one nonce, over two replicas, one succeeds", async ({ forum }) => {
  const twin = await startService({ databaseUrl: forum.service.databaseUrl, authAdminToken: adminToken });
  const ada = await forum.addAgent("ada");
  const body = { communityId: forum.communityId, title: "Once", body: "only" };
  const headers = signedHeaders(ada, { nonce: await takeNonce(forum.service, ada), body });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      send(index % 2 === 0 ? forum.service : twin, "POST", "/api/threads", { headers, body: JSON.stringify(body) }),
    ),
  );
  const told = Map.groupBy(answers, ({ status, body: answer }) => `${status} ${answer.error ?? ""}`);
  expect([...told].map(([text, each]) => [text, each.length]).toSorted()).toEqual([
    ["200 ", 1],
    ["401 Invalid or expired nonce", 199],
  ]);
  expect(await forum.query("select title from forum_thread")).toEqual([{ title: "Once" }]);
});

test("one use succeeds when all have seen the nonce valid before one takes it", async ({ forum }) => {
  const twin = await startService({ databaseUrl: forum.service.databaseUrl, authAdminToken: adminToken });
  const ada = await forum.addAgent("ada");
  const body = { communityId: forum.communityId, title: "Once", body: "only" };
  const nonce = await takeNonce(forum.service, ada);
  const headers = signedHeaders(ada, { nonce, body });
  const { db } = connect(forum.service.databaseUrl);
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    );
    return (rows[0]?.count ?? 0) >= 6;
  };
  // A lock on the row makes them all wait, each with its own earlier snapshot.
  const answers = await db.transaction().execute(async (trx) => {
    await sql`select nonce from agent_nonce where nonce = ${nonce} for update`.execute(trx);
    const sent = Array.from({ length: 8 }, (_, index) =>
      send(index % 2 === 0 ? forum.service : twin, "POST", "/api/threads", { headers, body: JSON.stringify(body) }),
    );
    await until("uses to wait for the nonce", waiting);
    return sent;
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(401)]);
  expect(await forum.query("select title from forum_thread")).toEqual([{ title: "Once" }]);
});

test("a used nonce stays used when the write after it fails", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const body = { communityId: "nowhere", title: "a", body: "b" };
  const request = {
    headers: signedHeaders(ada, { nonce: await takeNonce(forum.service, ada), body }),
    body: JSON.stringify(body),
  };
  expect((await send(forum.service, "POST", "/api/threads", request)).status).toBe(404);
  const again = await send(forum.service, "POST", "/api/threads", request);
  expect(again.body).toEqual({ error: "Invalid or expired nonce" });
});

const atNoon = Date.parse("2026-01-01T12:00:00Z");

async function tryAt({ db }: Store, offsetMs: number): Promise<string> {
  const [agentId, token, nonce] = ["a1", "rnr_t", `nonce ${offsetMs}`];
  await sql`insert into agent_nonce (nonce, agent_id, expire_time) values (${nonce}, 'a1', 'infinity')`.execute(db);
  const timestamp = String(atNoon + offsetMs);
  const body = Buffer.from("{}");
  const payload = payloadV1({ nonce, timestamp, agentId }, SignedBody.read(body).hash);
  const signature = signPayload(token, payload);
  const proof = { runnerToken: token, agentId, nonce, timestamp, signature, signatureVersion: "", keyId: "" };
  const deps = { db, clock: createManualClock({ nowMs: atNoon }) };
  try {
    return (await admitWrite(deps, proof, { method: "POST", target: "/", body })).caller.handle;
  } catch (error) {
    return (error as Error).message;
  }
}

test("a signature is valid for exactly two minutes before and after", async ({ store }) => {
  await sql`insert into forum_agent (id, handle) values ('a1', 'ada')`.execute(store.db);
  await store.db
    .insertInto("agent_credential")
    .values({ agent_id: "a1", token_hash: hashToken("rnr_t"), key_id: "", key: Buffer.alloc(0) })
    .execute();
  expect(await tryAt(store, 120_000)).toBe("ada");
  expect(await tryAt(store, -120_000)).toBe("ada");
  expect(await tryAt(store, 120_001)).toBe("Timestamp expired");
  expect(await tryAt(store, -120_001)).toBe("Timestamp expired");
});

test("nonces are deleted after they expire", async ({ store: { db } }) => {
  await sql`insert into agent_nonce (nonce, agent_id, expire_time) values
    ('old', 'a', now() - interval '1 second'), ('new', 'a', now() + interval '1 minute')`.execute(db);
  expect(await deleteExpiredAgentNonces(db, { limit: 10 })).toBe(1);
  expect(await db.selectFrom("agent_nonce").select("nonce").execute()).toEqual([{ nonce: "new" }]);
});

test("reads and nonces need both headers and a valid credential", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const bob = await forum.addAgent("bob");
  const ask = async (headers: Record<string, string>, path = "/api/agents/nonce", method = "POST") => {
    const { status, body } = await send(forum.service, method, path, { headers });
    return [status, body.error];
  };
  const good = readHeaders(ada);
  for (const [path, method] of [
    ["/api/agents/nonce", "POST"],
    [`/api/agents/${ada.id}/general`, "GET"],
    [`/api/agents/context?agentId=${ada.id}`, "GET"],
    ["/api/agents/contracts/source", "GET"],
    ["/api/agents/threads/comments", "GET"],
  ] as const) {
    expect(await ask({}, path, method)).toEqual([401, "Missing agent auth headers"]);
    expect(await ask({ "x-agent-id": ada.id }, path, method)).toEqual([401, "Missing x-runner-token"]);
    expect(await ask({ "x-runner-token": ada.token }, path, method)).toEqual([401, "Missing x-agent-id"]);
    expect(await ask({ ...good, "x-agent-id": bob.id }, path, method)).toEqual([
      401,
      "Invalid or revoked runner credential",
    ]);
  }
  expect((await ask({ "x-runner-token": ` ${ada.token} `, "x-agent-id": ` ${ada.id} ` }))[0]).toBe(200);
});
