// The order of the checks of a write: of every pair of faults the earlier check answers, and a nonce is used up exactly when
// the document says so.

import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { expect } from "vitest";
import type { Db } from "../../src/platform/database/database.ts";
import { connect } from "../runlog/store.ts";
import {
  type Agent,
  type Answer,
  test as base,
  type Forum,
  newThread,
  openForum,
  send,
  signedHeaders,
  takeNonce,
  write,
} from "./stage.ts";

interface Draft {
  /** The signed body, which is also sent unless `text` is set. */
  body: Record<string, unknown>;
  text: string | undefined;
  /** Replaces signed headers; undefined removes a header. */
  readonly headers: Record<string, string | undefined>;
  timestamp: string;
  nonce: string;
  assignedId: string;
  isBanned: boolean;
}

interface Fault {
  readonly name: string;
  readonly status: number;
  readonly error: string;
  /** Whether the nonce is used up at this check. */
  readonly uses: boolean;
  readonly spoil: (draft: Draft, stage: Stage) => void;
  /** Two faults of one group cannot be combined. */
  readonly group?: string;
}

interface Stage extends Forum {
  readonly db: Db;
  readonly ada: Agent;
  readonly revoked: Agent;
  readonly closedId: string;
  readonly otherId: string;
}

const faults: readonly Fault[] = [
  {
    name: "no nonce",
    status: 401,
    error: "Missing agent auth headers",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-agent-nonce"] = undefined;
    },
  },
  {
    name: "no timestamp",
    status: 401,
    error: "Missing agent auth headers",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-agent-timestamp"] = undefined;
    },
  },
  {
    name: "blank signature",
    status: 401,
    error: "Missing agent auth headers",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-agent-signature"] = "  ";
    },
  },
  {
    name: "blank token",
    status: 401,
    error: "Unauthorized",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-runner-token"] = "  ";
    },
  },
  {
    name: "no agent id",
    status: 401,
    error: "Missing x-agent-id",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-agent-id"] = undefined;
    },
  },
  {
    name: "unknown token",
    status: 401,
    error: "Invalid or revoked runner credential",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-runner-token"] = "rnr_unknown";
    },
  },
  {
    name: "revoked token",
    status: 401,
    error: "Invalid or revoked runner credential",
    uses: false,
    spoil: ({ headers }, { revoked }) => {
      headers["x-runner-token"] = revoked.token;
      headers["x-agent-id"] = revoked.id;
    },
    group: "credential",
  },
  {
    name: "timestamp that is no number",
    status: 400,
    error: "Invalid timestamp",
    uses: false,
    spoil: (draft) => {
      draft.timestamp = "abc";
    },
    group: "time",
  },
  {
    name: "infinite timestamp",
    status: 400,
    error: "Invalid timestamp",
    uses: false,
    spoil: (draft) => {
      draft.timestamp = "1e999";
    },
    group: "time",
  },
  {
    name: "timestamp in seconds",
    status: 401,
    error: "Timestamp expired",
    uses: false,
    spoil: (draft) => {
      draft.timestamp = String(Math.floor(Date.now() / 1_000));
    },
    group: "time",
  },
  {
    name: "timestamp of tomorrow",
    status: 401,
    error: "Timestamp expired",
    uses: false,
    spoil: (draft) => {
      draft.timestamp = String(Date.now() + 86_400_000);
    },
    group: "time",
  },
  {
    name: "body that is no JSON",
    status: 400,
    error: "Invalid JSON body",
    uses: false,
    spoil: (draft) => {
      draft.text = "{";
    },
  },
  {
    name: "unknown nonce",
    status: 401,
    error: "Invalid or expired nonce",
    uses: false,
    spoil: (draft) => {
      draft.nonce = "0".repeat(32);
    },
  },
  {
    name: "signature of something else",
    status: 401,
    error: "Invalid signature",
    uses: false,
    spoil: ({ headers }) => {
      headers["x-agent-signature"] = "0".repeat(64);
    },
  },
  {
    name: "banned owner",
    status: 403,
    error: "Agent is banned in this community",
    uses: true,
    spoil: (draft) => {
      draft.isBanned = true;
    },
    group: "unassigned",
  },
  {
    name: "SYSTEM thread",
    status: 403,
    error: "SYSTEM threads cannot be created via agent API",
    uses: true,
    spoil: ({ body }) => {
      body.type = " system ";
    },
  },
  {
    name: "no title",
    status: 400,
    error: "communityId, title, and body are required",
    uses: true,
    spoil: ({ body }) => {
      body.title = "  ";
    },
    group: "title",
  },
  {
    name: "long title",
    status: 400,
    error: "title must be 180 characters or fewer",
    uses: true,
    spoil: ({ body }) => {
      body.title = "😀".repeat(91);
    },
    group: "title",
  },
  {
    name: "long body",
    status: 400,
    error: "body must be 12000 characters or fewer",
    uses: true,
    spoil: ({ body }) => {
      body.body = "x".repeat(12_001);
    },
  },
  {
    name: "unknown community",
    status: 404,
    error: "Community not found",
    uses: true,
    spoil: ({ body }) => {
      body.communityId = "nowhere";
    },
    group: "community",
  },
  {
    name: "closed community",
    status: 403,
    error: "Community is closed",
    uses: true,
    spoil: ({ body }, { closedId }) => {
      body.communityId = closedId;
    },
    group: "community",
  },
  {
    name: "agent of no community",
    status: 403,
    error: "Agent is not assigned to a community",
    uses: true,
    spoil: (draft) => {
      draft.assignedId = "";
    },
    group: "unassigned",
  },
  {
    name: "agent of another community",
    status: 403,
    error: "Agent does not match the target community",
    uses: true,
    spoil: (draft, { otherId }) => {
      draft.assignedId = otherId;
    },
  },
];

const test = base.extend("stage", async (): Promise<Stage> => {
  const forum = await openForum();
  const [ada, revoked] = [await forum.addAgent("ada"), await forum.addAgent("revoked")];
  await forum.admin("DELETE", `/v1/forum-agents/${revoked.id}/credentials`);
  const otherId = await forum.addCommunity("other");
  const closedId = await forum.addCommunity("closed", { status: "CLOSED" });
  return { ...forum, db: connect(forum.service.databaseUrl).db, ada, revoked, otherId, closedId };
});

/** Sends a valid write with some faults in it; when two set the same part, the first wins. */
async function tryFaults(stage: Stage, names: readonly Fault[]) {
  const { ada, service, communityId } = stage;
  const issued = await takeNonce(service, ada);
  const draft: Draft = {
    body: { communityId, title: "Hello", body: "World", type: "DISCUSSION" },
    text: undefined,
    headers: {},
    timestamp: String(Date.now()),
    nonce: issued,
    assignedId: communityId,
    isBanned: false,
  };
  for (const { spoil } of names.toReversed()) {
    spoil(draft, stage);
  }
  await sql`delete from community_ban`.execute(stage.db);
  await sql`update forum_agent set community_id = nullif(${draft.assignedId}, '') where id = ${ada.id}`.execute(
    stage.db,
  );
  if (draft.isBanned) {
    await sql`
      insert into community_ban (community_id, owner_wallet)
      select community_id, lower(owner_wallet) from forum_agent where id = ${ada.id}`.execute(stage.db);
  }
  const { body, timestamp, nonce } = draft;
  const sent = Object.entries({ ...signedHeaders(ada, { nonce, body, timestamp }), ...draft.headers });
  const headers = Object.fromEntries(sent.filter((entry): entry is [string, string] => entry[1] !== undefined));
  const answer = await send(service, "POST", "/api/threads", { headers, body: draft.text ?? JSON.stringify(body) });
  const used = await stage.db.selectFrom("agent_nonce").select("use_time").where("nonce", "=", issued).execute();
  return { answer, isUsed: used[0]?.use_time !== null };
}

test("of two faults the first is reported; the nonce is used up from the ban on", async ({ stage }) => {
  const wrong: string[] = [];
  for (const [at, fault] of faults.entries()) {
    const others = faults.slice(at + 1).filter(({ group }) => group === undefined || group !== fault.group);
    for (const other of [undefined, ...others]) {
      const { answer, isUsed } = await tryFaults(stage, other === undefined ? [fault] : [fault, other]);
      const told = `${answer.status} ${JSON.stringify(answer.body)} ${isUsed}`;
      const expected = `${fault.status} ${JSON.stringify({ error: fault.error })} ${fault.uses}`;
      if (told !== expected) {
        wrong.push(`${fault.name} with ${other?.name ?? "nothing"}: ${told}, not ${expected}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(await stage.query("select id from forum_thread")).toEqual([]);
  const { answer, isUsed } = await tryFaults(stage, []);
  expect([answer.status, isUsed]).toEqual([200, true]);
});

interface HttpCase {
  readonly case: string;
  readonly status: number;
  readonly body: object;
}

const { cases, example } = (
  JSON.parse(readFileSync(new URL("../vectors/sns-signing.json", import.meta.url), "utf8")) as {
    http_cases: { cases: readonly HttpCase[]; example: { agentId: string; runnerToken: string; body: object } };
  }
).http_cases;

/** Each function spoils a valid request. */
const spoiled: Readonly<Record<string, (stage: CaseStage) => void | Promise<void>>> = {
  "missing nonce header": ({ set }) => set("x-agent-nonce", undefined),
  "missing signature header": ({ set }) => set("x-agent-signature", undefined),
  "x-runner-token of spaces only": ({ set }) => set("x-runner-token", "   "),
  "x-agent-id of another agent": ({ set, other }) => set("x-agent-id", other.id),
  "timestamp abc": ({ sign }) => sign({ timestamp: "abc" }),
  // A minute more for slow machines; another test covers the exact limit.
  "timestamp now+120001": ({ sign }) => sign({ timestamp: String(Date.now() + 120_001 + 60_000) }),
  "timestamp in seconds": ({ sign }) => sign({ timestamp: String(Math.floor(Date.now() / 1_000)) }),
  "nonce of another agent": async ({ sign, service, other }) => sign({ nonce: await takeNonce(service, other) }),
  "nonce already used": async ({ post }) => {
    expect((await post()).status).toBe(200);
  },
  "signature in upper case hex": ({ set, signature }) => set("x-agent-signature", signature.toUpperCase()),
  "signature over payload without agentId": ({ sign, agent }) => sign({}, { ...agent, id: "" }),
};

interface CaseStage {
  readonly service: Forum["service"];
  readonly agent: Agent;
  readonly other: Agent;
  readonly signature: string;
  /** Undefined removes the header. */
  set(name: string, value: string | undefined): void;
  sign(parts: { nonce?: string; timestamp?: string }, as?: Agent): void;
  post(): Promise<Answer>;
}

test("the shared cases of refusals hold", async () => {
  expect(Object.keys(spoiled)).toEqual(cases.map((each) => each.case));
  const forum = await openForum();
  const other = await forum.addAgent("other");
  const threadId = await newThread(forum, other);
  const agent = { id: example.agentId, token: example.runnerToken };
  await forum.query("insert into forum_agent (id, handle, community_id) values ($1, 'a1', $2)", [
    agent.id,
    forum.communityId,
  ]);
  await forum.query(
    "insert into agent_credential (agent_id, token_hash, key_id, key) values ($1, sha256(convert_to($2, 'UTF8')), '', '')",
    [agent.id, agent.token],
  );
  for (const each of cases) {
    const nonce = await takeNonce(forum.service, agent);
    const good = { nonce, body: example.body };
    const headers = new Map(Object.entries(signedHeaders(agent, good)));
    const stage: CaseStage = {
      service: forum.service,
      agent,
      other,
      signature: headers.get("x-agent-signature") ?? "",
      set: (name, value) => (value === undefined ? headers.delete(name) : headers.set(name, value)),
      sign: (parts, as = agent) => {
        for (const [name, value] of Object.entries(signedHeaders(as, { ...good, ...parts }))) {
          headers.set(name, name === "x-agent-id" ? agent.id : value);
        }
      },
      post: () =>
        send(forum.service, "POST", `/api/threads/${threadId}/comments`, {
          headers: Object.fromEntries(headers),
          body: JSON.stringify(example.body),
        }),
    };
    await spoiled[each.case]?.(stage);
    const { status, body, headers: told } = await stage.post();
    expect({ case: each.case, status, body }).toEqual({ case: each.case, status: each.status, body: each.body });
    // Runners with a wrong clock correct it by this header.
    expect(Number.isNaN(Date.parse(told.get("date") ?? ""))).toBe(false);
  }
});

test("a wrong signature does not use up the nonce", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const nonce = await takeNonce(forum.service, ada);
  const body = { communityId: forum.communityId, title: "a", body: "b" };
  const headers = signedHeaders(ada, { nonce, body });
  const post = (signature?: string) =>
    send(forum.service, "POST", "/api/threads", {
      headers: { ...headers, ...(signature !== undefined && { "x-agent-signature": signature }) },
      body: JSON.stringify(body),
    });
  for (const signature of ["x", "é".repeat(64), "0".repeat(64), "0".repeat(4_000)]) {
    const { status, body: answer } = await post(signature);
    expect([status, answer]).toEqual([401, { error: "Invalid signature" }]);
  }
  expect((await post()).status).toBe(200);
});

test("an expired nonce is refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const nonce = await takeNonce(forum.service, ada);
  await forum.query("update agent_nonce set expire_time = now() where nonce = $1", [nonce]);
  const body = { communityId: forum.communityId, title: "a", body: "b" };
  const { status, body: answer } = await send(forum.service, "POST", "/api/threads", {
    headers: signedHeaders(ada, { nonce, body }),
    body: JSON.stringify(body),
  });
  expect([status, answer]).toEqual([401, { error: "Invalid or expired nonce" }]);
});

test("an old key without a signed agent id is refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const headers = signedHeaders(ada, { nonce: await takeNonce(forum.service, ada), body: {} });
  const { "x-runner-token": token = "", "x-agent-id": _, ...rest } = headers;
  const answer = await send(forum.service, "POST", "/api/threads", {
    headers: { ...rest, "x-agent-key": token },
    body: "{}",
  });
  expect([answer.status, answer.body]).toEqual([401, { error: "Unauthorized" }]);
});

test("a body over 1 MiB is refused before every other check", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const body = { communityId: forum.communityId, title: "a", body: "b", more: "x".repeat(1_048_576) };
  const answer = await write(forum.service, ada, "POST", "/api/threads", body);
  expect([answer.status, answer.body.error]).toEqual([413, "the request body is larger than 1048576 bytes"]);
  expect(await forum.query("select id from forum_thread")).toEqual([]);
});
