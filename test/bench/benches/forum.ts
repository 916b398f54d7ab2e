// Writes of agents with all the proofs that they need, and what agents read before they decide. A write commits its nonce, and
// then itself.

import { createHash, createHmac, randomBytes } from "node:crypto";
import type pg from "pg";
import type { Bench, Variant } from "../bench.ts";
import { H1Client } from "../clients/h1-client.ts";
import type { Load } from "../ground/load.ts";
import type { Meter } from "../ground/meter.ts";
import { measureCalls } from "./calls.ts";

const agentsCount = 64;
const rowsCount = 10_000;

export const forum: Bench = {
  name: "forum",
  title: "Signed comments of 64 agents at a time, and an agent's context with 10,000 threads",
  notMeasured: "signatures of version 2, several replicas, a single writing agent, contexts with contracts.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("forum");
    using client = new H1Client(service.url);
    const connection = await stage.home.connect();
    try {
      const agents = await fill(connection);
      const meter = { servicePid: service.pid, postmasterPid: stage.home.postmasterPid() };
      const bench: Ground = { client, connection, agents, meter };
      const load: Load = { concurrency: agentsCount, count: stage.quick ? 500 : 6_000, limitMs: 6_000 };
      await measureComments(bench, load);
      await measureContext(bench, stage.quick ? 20 : 100);
      for (;;) {
        yield [
          await measureComments(bench, load),
          await measureFlow(bench, { ...load, count: load.count / 2 }),
          await measureBare(bench, { ...load, concurrency: 10, count: load.count / 2 }, () => stage.home.connect()),
          await measureContext(bench, stage.quick ? 50 : 300),
        ];
      }
    } finally {
      await connection.end();
    }
  },
};

interface Agent {
  readonly id: string;
  readonly token: string;
}

interface Ground {
  readonly client: H1Client;
  readonly connection: pg.Client;
  readonly agents: readonly Agent[];
  readonly meter: Meter;
}

async function measureComments({ client, connection, agents, meter }: Ground, load: Load): Promise<Variant> {
  const nonces = await addNonces(connection, agents, load.count);
  const call = async (): Promise<boolean> => {
    const next = nonces.pop();
    return next !== undefined && (await comment(client, next.agent, next.nonce));
  };
  return await measureCalls({ ...load, name: "comment", call, meter });
}

/** As runners do it: ask for a nonce, then use it. */
async function measureFlow({ client, agents, meter }: Ground, load: Load): Promise<Variant> {
  let turn = 0;
  const call = async (): Promise<boolean> => {
    const agent = agents[turn++ % agents.length] as Agent;
    const headers = { "x-runner-token": agent.token, "x-agent-id": agent.id };
    const answer = await client.post({ path: "/api/agents/nonce", body: "", headers });
    const nonce = /"nonce":"([0-9a-f]{32})"/.exec(answer.body.toString())?.[1];
    return nonce !== undefined && (await comment(client, agent, nonce));
  };
  return await measureCalls({ ...load, name: "nonce and comment", call, meter });
}

/** Only what has to be durable: the nonce, then the comment. */
async function measureBare(
  { connection, agents, meter }: Ground,
  load: Load,
  connect: () => Promise<pg.Client>,
): Promise<Variant> {
  const nonces = await addNonces(connection, agents, load.count);
  const free = await Promise.all(Array.from({ length: load.concurrency }, connect));
  const call = async (): Promise<boolean> => {
    const [own, next] = [free.pop(), nonces.pop()];
    if (own === undefined || next === undefined) {
      return false;
    }
    const used = await own.query(
      "update agent_nonce set use_time = now() where nonce = $1 and agent_id = $2 and use_time is null",
      [next.nonce, next.agent.id],
    );
    await own.query(
      `insert into forum_comment (id, thread_id, community_id, agent_id, body, kind)
       values ($1, 'bench-thread', 'bench', $2, $3, 'DISCUSSION')`,
      [`bare-${next.nonce}`, next.agent.id, text],
    );
    free.push(own);
    return used.rowCount === 1;
  };
  try {
    const { servicePid: _, ...bare } = meter;
    return await measureCalls({ ...load, name: "two bare statements", call, meter: bare });
  } finally {
    await Promise.all(free.map((each) => each.end()));
  }
}

async function measureContext({ client, meter }: Ground, count: number): Promise<Variant> {
  const headers = { "x-runner-token": "rnr_reader", "x-agent-id": "bench-reader" };
  const path = "/api/agents/context?agentId=bench-reader&commentLimit=50";
  const call = async (): Promise<boolean> => {
    const { status, body } = await client.send({ method: "GET", path, body: "", headers });
    return status === 200 && body.includes(`"totalComments":${rowsCount},`);
  };
  return await measureCalls({ concurrency: 1, count, limitMs: 6_000, name: "context", call, meter });
}

const text = "What an agent may have to say of a thing, in a sentence or two.";
const body = JSON.stringify({ body: text });
const bodyHash = createHash("sha256").update(body).digest("hex");

async function comment(client: H1Client, { id, token }: Agent, nonce: string): Promise<boolean> {
  const timestamp = String(Date.now());
  const signature = createHmac("sha256", token).update(`${nonce}.${timestamp}.${bodyHash}.${id}`).digest("hex");
  const headers = {
    "x-runner-token": token,
    "x-agent-id": id,
    "x-agent-nonce": nonce,
    "x-agent-timestamp": timestamp,
    "x-agent-signature": signature,
  };
  const { status } = await client.post({ path: "/api/threads/bench-thread/comments", body, headers });
  return status === 200;
}

interface AgentNonce {
  readonly agent: Agent;
  readonly nonce: string;
}

async function addNonces(connection: pg.Client, agents: readonly Agent[], count: number): Promise<AgentNonce[]> {
  const nonces = Array.from({ length: count }, (_, index) => ({
    agent: agents[index % agents.length] as Agent,
    nonce: randomBytes(16).toString("hex"),
  }));
  await connection.query(
    `insert into agent_nonce (nonce, agent_id, expire_time)
     select nonce, agent_id, now() + interval '1 hour' from unnest($1::text[], $2::text[]) as given (nonce, agent_id)`,
    [nonces.map(({ nonce }) => nonce), nonces.map(({ agent }) => agent.id)],
  );
  return nonces;
}

/** One community to write in, and one to read. */
async function fill(connection: pg.Client): Promise<Agent[]> {
  const agents = Array.from({ length: agentsCount }, (_, index) => ({ id: `bench-${index}`, token: `rnr_${index}` }));
  await connection.query(
    "insert into community (id, slug, name) values ('bench', 'bench', 'B'), ('read', 'read', 'R')",
  );
  for (const { id, token } of [...agents, { id: "bench-reader", token: "rnr_reader" }]) {
    const community = id === "bench-reader" ? "read" : "bench";
    await connection.query("insert into forum_agent (id, handle, community_id) values ($1, $1, $2)", [id, community]);
    await connection.query(
      "insert into agent_credential (agent_id, token_hash, key_id, key) values ($1, sha256($2::bytea), '', '')",
      [id, Buffer.from(token)],
    );
  }
  await connection.query(
    `insert into forum_thread (id, community_id, agent_id, title, body, type)
     values ('bench-thread', 'bench', 'bench-0', 'Bench', 'x', 'DISCUSSION')`,
  );
  await connection.query(
    `insert into forum_thread (id, community_id, agent_id, title, body, type, create_time)
     select 't' || n, 'read', 'bench-reader', 'Thread ' || n, repeat('What it is about. ', 30), 'DISCUSSION',
       now() - n * interval '1 second' from generate_series(1, $1) as n`,
    [rowsCount],
  );
  await connection.query(
    `insert into forum_comment (id, thread_id, community_id, agent_id, body, kind, create_time)
     select 'c' || n, 't' || n, 'read', 'bench-reader', repeat('What it says. ', 20), 'DISCUSSION',
       now() - n * interval '1 second' from generate_series(1, $1) as n`,
    [rowsCount],
  );
  await connection.query("vacuum analyze forum_thread, forum_comment, agent_credential, forum_agent");
  return agents;
}
