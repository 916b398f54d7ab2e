// No token, nonce, key or signature of an agent is in the log, in an error, or in a table beyond what the service must store.

import { expect, onTestFinished, test } from "vitest";
import { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import { openApp } from "../../src/app/app.ts";
import { loadConfig, sourcesOf } from "../../src/app/settings.ts";
import { deriveKey } from "../../src/protocols/community/forum/signing/signature.ts";
import { query, testDatabase } from "../harness/database.ts";
import { openTestLog } from "../telemetry/test-log.ts";
import {
  adminToken,
  asAdmin,
  boundHeaders,
  callForum,
  proofOf,
  readHeaders,
  send,
  signedHeaders,
  takeNonce,
} from "./stage.ts";

test("secrets of agents do not leak", async () => {
  const databaseUrl = await testDatabase();
  const log = openTestLog("debug");
  const flags = {
    databaseUrl,
    authAdminToken: adminToken,
    serverHost: "127.0.0.1",
    serverPort: 0,
    databasePoolSize: 4,
  };
  const app = await openApp({ config: loadConfig({}, flags), sources: sourcesOf({}, flags), logger: log.logger });
  onTestFinished(() => app.close());
  const service = { url: `http://${app.host}:${app.port}`, target: `${app.host}:${app.port}` };
  const json = { ...asAdmin, "content-type": "application/json" };
  const post = (path: string, body?: object) =>
    send(service, "POST", path, { headers: json, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const { id: communityId } = (await post("/v1/communities", { slug: "home", name: "Home" })).body;
  const { id } = (await post("/v1/forum-agents", { handle: "ada", community_id: communityId })).body;
  const ada = { id, token: (await post(`/v1/forum-agents/${id}/credentials`)).body.runnerToken as string };
  const nonce = await takeNonce(service, ada);
  const body = { communityId, title: "a", body: "b" };
  const signed = signedHeaders(ada, { nonce, body });
  const text = JSON.stringify(body);
  const told: string[] = [];
  const tell = async (method: string, path: string, headers: Record<string, string>, content?: string) => {
    const answer = await send(service, method, path, { headers, ...(content !== undefined && { body: content }) });
    told.push(JSON.stringify([...answer.headers]), JSON.stringify(answer.body));
    return answer.status;
  };
  const bound = boundHeaders(ada, { nonce, method: "POST", target: "/api/threads", body: text });

  expect(
    await tell("POST", "/api/threads", { ...signed, "x-agent-signature": bound["x-agent-signature"] ?? "" }, text),
  ).toBe(401);
  expect(await tell("POST", "/api/threads", { ...signed, "x-agent-id": "another" }, text)).toBe(401);
  expect(await tell("POST", "/api/threads", { ...signed, "x-agent-timestamp": ada.token }, text)).toBe(400);
  expect(await tell("POST", "/api/threads", { ...signed, "x-agent-signature-version": ada.token }, text)).toBe(400);
  expect(await tell("POST", "/api/threads", signed, "{")).toBe(400);
  expect(await tell("POST", "/api/threads", signed, text)).toBe(200);
  expect(await tell("POST", "/api/threads", signed, text)).toBe(401);
  expect(await tell("GET", `/api/agents/${id}/general`, { ...readHeaders(ada), "x-agent-id": `${id}\u00e9` })).toBe(
    401,
  );
  expect(await tell("GET", `/api/agents/${id}/general?runner_token=${ada.token}`, {})).toBe(401);
  expect(await tell("GET", `/api/agents/${id}/general?token=${ada.token}`, readHeaders(ada))).toBe(400);
  // Renames the table to force a failure: the log names the failure without the secrets.
  await query(databaseUrl, "alter table agent_nonce rename to elsewhere");
  expect(await tell("POST", "/api/threads", signed, text)).toBe(500);
  const failed = await callForum(service, ForumService.method.createThread, {
    ...proofOf(signed),
    document: { data: Buffer.from(text) },
  });
  expect(failed.code).toBe(13);
  told.push(JSON.stringify(failed));
  await query(databaseUrl, "alter table elsewhere rename to agent_nonce");

  const { id: keyId, key } = deriveKey(ada.token);
  const secrets = [
    ada.token.slice(4),
    nonce,
    signed["x-agent-signature"] ?? "",
    bound["x-agent-signature"] ?? "",
    key.toString("hex"),
    key.toString("base64"),
  ];
  expect(secrets.every((secret) => secret.length >= 32)).toBe(true);
  expect(log.text()).toContain('"method":"');
  expect(log.text().length).toBeGreaterThan(1_000);
  expect(secrets.filter((secret) => log.text().includes(secret))).toEqual([]);
  expect(secrets.filter((secret) => told.join("\n").includes(secret))).toEqual([]);
  const tables = await query<{ t: string }>(
    databaseUrl,
    "select c::text as t from agent_credential c union all select a::text from forum_agent a",
  );
  const stored = tables.map(({ t }) => t).join("\n");
  expect(stored).toContain(keyId);
  expect(stored).not.toContain(ada.token.slice(4));
});
