// The table of docs/authentication.md: each credential, signature and token of the service, tried at each place that takes one.

import { readFileSync } from "node:fs";
import { test as base, expect, onTestFinished } from "vitest";
import { HostRunService } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { verifyText } from "../../src/engine/receipts/jws.ts";
import { RunTokens } from "../../src/platform/auth/run-token.ts";
import { loadSecret } from "../../src/platform/auth/storage/secret.ts";
import { type CallbackCall, startCallbackHost } from "../fakes/callback-host.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openProvider } from "../fixtures.ts";
import { type Agent, adminToken, type Forum, openForum, send, signedHeaders, takeNonce } from "../forum/stage.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { signV1, signV2 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { specOf, trustEntry } from "../jobs/stage.ts";
import { makeSigner, type Signer } from "../jobspec/signer.ts";
import { connect } from "../runlog/store.ts";
import { issuer, openKeys, pairOf, resource, tokenOf } from "./authorization-server.ts";

const page = readFileSync(new URL("../../docs/authentication.md", import.meta.url), "utf8");
const [header = "", , ...rows] = page.split("\n").filter((line, at, all) => isTable(line, all, at));
const places = cellsOf(header).slice(1);
const table = rows.map((row) => cellsOf(row)).map(([kind = "", ...cells]) => ({ kind, cells }));

/** The lines of the table that begins with this head. */
function isTable(line: string, all: readonly string[], at: number): boolean {
  const start = all.findIndex((each) => each.startsWith("| from ↓"));
  return line.startsWith("|") && at >= start && all.slice(start, at).every((each) => each.startsWith("|"));
}

function cellsOf(row: string): string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** One credential as its holder, its receiver or an observer has it. */
interface Specimen {
  readonly text: string;
  /** The headers and the body of a signed request. */
  readonly signed?: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

interface Stage {
  readonly forum: Forum;
  readonly agent: Agent;
  readonly url: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly signer: Signer;
  readonly specimens: Readonly<Record<string, Specimen>>;
}

const secret = "the-secret-that-all-callers-of-this-test-share";
const clients = ["local", "carol", "made"];

const test = base.extend("stage", async (): Promise<Stage> => {
  const provider = await openProvider();
  provider.respond(callTools({ id: "call_1", name: "look_up", arguments: "{}" }), answer("done"));
  const signer = makeSigner();
  const pair = pairOf("k1");
  const { url: jwksUrl } = await openKeys([pair]);
  const forum = await openForum({
    authAuthorizationServer: { issuer, jwksUrl, resource, clients: new Map([["4711", "local"]]) },
    authHmacSecret: secret,
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
    openaiBaseUrl: provider.baseUrl,
    openaiKey: "key-of-the-provider",
    trustKeysJson: JSON.stringify([trustEntry(signer)]),
  });
  const { url, target, databaseUrl } = forum.service;
  const agent = await forum.addAgent("ada");
  const local = new GrpcClient(target);
  const { sessionId } = await local.call(SessionService.method.createSession, { agent: { name: "a", model: "demo" } });
  await local.call(SessionService.method.createSession, { agent: { name: "b" } });
  const { runId } = await local.call(SessionService.method.sendMessage, { sessionId, message: "hello pace=0 words=3" });
  await Array.fromAsync(local.stream(RunService.method.tailRun, { runId }));
  const admin = new GrpcClient(target, { authorization: `Bearer ${adminToken}` });
  const { key } = await admin.call(AuthService.method.createApiKey, { clientId: "made" });
  const sessionTarget = { target: { case: "sessionId" as const, value: sessionId } };
  const { ticket } = await local.call(AuthService.method.createStreamTicket, { target: sessionTarget });
  const { nextPageToken } = await local.call(SessionService.method.listSessions, { pageSize: 1 });
  const { jws } = await until("the receipt", () =>
    local.call(ReceiptService.method.getReceipt, { runId }).catch(() => undefined),
  );
  const runTokens = new RunTokens(await loadSecret(connect(databaseUrl).db, "run token"));
  const [toolCall, callback] = await collectCalls(url);
  const path = "/v1/sessions";
  const body = '{"agent":{"name":"n"}}';
  const write = { communityId: forum.communityId, title: "t", body: "b", type: "NORMAL" };
  const writeHeaders = signedHeaders(agent, { nonce: await takeNonce(forum.service, agent), body: write });
  const v1 = signV1({ secret, clientId: "carol", path, body });
  const v2 = signV2({ secret, clientId: "carol", method: "POST", path, body });
  const spec = signer.signV1(specOf());
  return {
    ...{ forum, agent, url, sessionId, runId, signer },
    specimens: {
      "signed request (v1)": { text: macOf(v1), signed: { headers: v1, body } },
      "signed request (v2)": { text: macOf(v2), signed: { headers: v2, body } },
      "status callback": specimenOf(callback),
      "remote tool call": specimenOf(toolCall),
      "API key": { text: keyOf() },
      "created API key": { text: key },
      "access token": { text: tokenOf(pair) },
      "admin token": { text: adminToken },
      "stream ticket": { text: ticket },
      "run token": { text: runTokens.make({ runId, attempt: 1 }) },
      "forum credential": { text: agent.token },
      "signed forum write": {
        text: writeHeaders["x-agent-signature"] ?? "",
        signed: { headers: writeHeaders, body: JSON.stringify(write) },
      },
      "signed JobSpec": { text: String(JSON.parse(spec).signature), signed: { headers: {}, body: spec } },
      receipt: { text: jws },
      "page token": { text: nextPageToken },
    },
  };
});

const macOf = (headers: Readonly<Record<string, string>>): string =>
  headers["x-signature"]?.slice("sha256=".length) ?? "";

function specimenOf(call: CallbackCall | undefined): Specimen {
  const headers = Object.fromEntries(
    ["x-signature", "x-timestamp", "x-nonce"].map((name) => [name, String(call?.headers[name])]),
  );
  return { text: macOf(headers), signed: { headers, body: call?.body ?? "" } };
}

/** Lets the service send a remote tool call and status callbacks to a host of a client of the shared secret. */
async function collectCalls(url: string): Promise<[CallbackCall | undefined, CallbackCall | undefined]> {
  const host = await startCallbackHost({ secret });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const call = async (path: string, value: object): Promise<Record<string, string>> => {
    const body = JSON.stringify(value);
    const headers = signV1({ secret, clientId: "bob", path, body });
    return (await (await fetch(url + path, { method: "POST", headers, body })).json()) as Record<string, string>;
  };
  const tools = { remote: [{ name: "look_up", description: "looks up", parameters: { type: "object" } }] };
  const agent = { name: "bob's", model: "gpt-4o", tools };
  const { session_id } = await call("/v1/sessions", { agent, callback: { base_url: host.baseUrl } });
  await call(`/v1/sessions/${session_id}/messages`, { message: "find it" });
  await until("all callbacks", () => host.told.some(({ body }) => body.includes('"completed"')));
  return [host.calls[0], host.told[0]];
}

type Place = (specimen: Specimen, stage: Stage) => Promise<boolean>;

const isOk = async (url: string, init: RequestInit = {}): Promise<boolean> => {
  const response = await fetch(url, init);
  await response.body?.cancel();
  return response.ok;
};

const use: Readonly<Record<string, Place>> = {
  "signature of a request": async ({ text, signed }, { url }) => {
    const path = "/v1/sessions";
    const body = '{"agent":{"name":"n"}}';
    const json = { "content-type": "application/json" };
    for (const clientId of clients) {
      const replayed = signed && { ...signed.headers, "x-client-id": clientId, ...json };
      const made = signV1({ secret: text, clientId, path, body });
      if (
        (replayed && (await isOk(url + path, { method: "POST", headers: replayed, body: signed.body }))) ||
        (await isOk(url + path, { method: "POST", headers: { ...made, ...json }, body }))
      ) {
        return true;
      }
    }
    return false;
  },
  "bearer token": async ({ text }, { url, sessionId }) => {
    const headers = { authorization: `Bearer ${text}` };
    const paths = ["/v1/sessions", "/v1/auth/keys", `/v1/sessions/${sessionId}/stream`];
    const answers = await Promise.all(paths.map((path) => isOk(url + path, { headers })));
    return answers.includes(true);
  },
  "`?ticket=`": ({ text }, { url, sessionId }) =>
    isOk(`${url}/v1/sessions/${sessionId}/stream?ticket=${encodeURIComponent(text)}`),
  "call of a host": async ({ text }, { forum, runId }) => {
    const runner = new GrpcClient(forum.service.target, { authorization: `Bearer ${text}` });
    const call = runner.call(HostRunService.method.getRun, { runId });
    // No runner works on the run, so the host refuses a call with its token for that reason.
    return await call.then(
      () => true,
      (error) => !["TOKEN_INVALID", "ACCESS_DENIED"].includes(reasonOf(error) ?? ""),
    );
  },
  "forum write": async ({ text, signed }, { forum, agent }) => {
    const body = { communityId: forum.communityId, title: "t", body: "b", type: "NORMAL" };
    const nonce = await takeNonce(forum.service, agent);
    const made = signedHeaders({ id: agent.id, token: text }, { nonce, body });
    const writes = [{ headers: made, body: JSON.stringify(body) }, ...(signed ? [signed] : [])];
    for (const write of writes) {
      if ((await send(forum.service, "POST", "/api/threads", write)).status < 300) {
        return true;
      }
    }
    return false;
  },
  "signed job": async ({ text, signed }, { url, signer }) => {
    const key = Buffer.from(signer.rawKey).toString("base64");
    const made = JSON.stringify({ ...specOf(), public_key: key, signature: text });
    const headers = credentialsOf();
    const bodies = [made, ...(signed ? [signed.body] : [])];
    for (const body of bodies) {
      if (await isOk(`${url}/api/v1/jobs`, { method: "POST", headers, body })) {
        return true;
      }
    }
    return false;
  },
  receipt: async ({ text }) => {
    try {
      verifyText(text);
      return true;
    } catch {
      return false;
    }
  },
  "page token": ({ text }, { url }) =>
    isOk(`${url}/v1/sessions?page_size=1&page_token=${encodeURIComponent(text)}`, { headers: credentialsOf() }),
};

test("the table has a specimen for each row and a try for each column", async ({ stage: { specimens } }) => {
  expect(table.map(({ kind }) => kind)).toEqual(Object.keys(specimens));
  expect(places).toEqual(Object.keys(use));
});

test("each credential is accepted where the table says so, and nowhere else", async ({ stage }) => {
  const found = [];
  for (const { kind, cells } of table) {
    for (const [at, place] of places.entries()) {
      const specimen = stage.specimens[kind] ?? { text: "" };
      const isAccepted = await use[place]?.(specimen, stage);
      if (isAccepted !== (cells[at] !== "no")) {
        found.push(`${kind} as ${place}: the table says ${cells[at]}`);
      }
    }
  }
  expect(found).toEqual([]);
});

test("what works once is refused the second time", async ({ stage }) => {
  const once = table.flatMap(({ kind, cells }) =>
    cells.flatMap((cell, at) => (cell.startsWith("once") ? [[kind, places[at] ?? ""] as const] : [])),
  );
  expect(once).toHaveLength(4);
  for (const [kind, place] of once) {
    const tryIt = () => use[place]?.(stage.specimens[kind] ?? { text: "" }, stage);
    expect([kind, await tryIt(), await tryIt()]).toEqual([kind, true, false]);
  }
});
