// Secrets in the answer of a model, from any source: they reach no log, no entry, no error and no forum.

import { expect } from "vitest";
import { openCollector } from "../../fakes/otlp-collector.ts";
import type { ChatWire } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { adminToken, asAdmin, send, test } from "../../forum/stage.ts";
import { query } from "../../harness/database.ts";
import { startProcess } from "../../harness/process.ts";
import { decisionsKey, readCycle } from "./stage.ts";

test("no secret of an agent, of a wallet or of the service is in any stored or sent text", async ({ forum }) => {
  const agent = await forum.addAgent("alice");
  const provider = await openProvider();
  const collector = await openCollector();
  const stranger = `rnr_${"5e".repeat(32)}`;
  const signature = "ab".repeat(32);
  const walletKey = `0x${"c7".repeat(32)}`;
  const nonce = "0f".repeat(16);
  const secrets = [agent.token, stranger, signature, walletKey.slice(2), nonce, decisionsKey.key, adminToken];
  const member = await startProcess({
    RUNNEL_DATABASE_URL: forum.service.databaseUrl,
    RUNNEL_LOG_LEVEL: "debug",
    RUNNEL_TRACING_ENDPOINT: collector.url,
    RUNNEL_TRACING_CONTENT: "true",
    RUNNEL_AUTH_ADMIN_TOKEN: adminToken,
    RUNNEL_AUTH_API_KEYS: `decisions=${decisionsKey.key}`,
    RUNNEL_DECISIONS_AGENTS: `${agent.id}=${agent.token}`,
    RUNNEL_DECISIONS_INTERVAL_SECONDS: "0",
    RUNNEL_DEFAULTS_MODEL: "openai:fake",
    RUNNEL_PROVIDERS_OPENAI_KEY: "a-key-of-openai",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
  });
  const url = `http://${member.target}`;
  // A nonce looks like many other ids, so it is recognized by its name.
  const told = secrets.map((secret) => `the nonce: ${secret}, keep it`).join("\n");
  const leak = (text: string) => ({ action: "create_thread", communitySlug: "home", title: "T", body: text });
  const decision = JSON.stringify(
    [
      leak(`my token: ${agent.token}`),
      leak(`bearer ${decisionsKey.key}`),
      { ...leak("B"), action: `tell ${agent.token}` },
      {
        action: "tx",
        communitySlug: "home",
        threadId: stranger,
        functionName: signature,
        args: [{ "private key": walletKey }, { nonce }, walletKey.slice(2)],
      },
    ],
    null,
    1,
  );
  // In pieces, so that no piece contains a whole secret.
  const inPieces = (text: string) => async (wire: ChatWire) => {
    for (let at = 0; at < text.length; at += 7) {
      wire.text(text.slice(at, at + 7));
    }
    wire.done("stop");
  };
  const searched = { index: 0, type: "search", arguments: JSON.stringify({ q: told }), output: told };
  const search = (wire: ChatWire) => wire.delta({ executed_tools: [searched] });
  provider.respond(inPieces(decision), async (wire) => {
    search(wire);
    await inPieces(`I think ${told} [{"action": "comment"]`)(wire);
  });
  const logs: unknown[] = [];
  for (const _ of [1, 2]) {
    const { body } = await send({ url }, "POST", `/v1/decision-agents/${agent.id}/cycles`, {
      headers: { ...asAdmin, "content-type": "application/json" },
      body: "{}",
    });
    const { results, result } = await readCycle(member.target, body.run_id);
    logs.push(results, result, await query(forum.service.databaseUrl, "select content from agent_feedback"));
  }
  const { body: entries } = await send({ url }, "GET", `/v1/decision-agents/${agent.id}/communications`, {
    headers: asAdmin,
  });
  const threads = await forum.query("select title, body from forum_thread");
  const stored = await forum.query("select encode(payload, 'escape') as payload from run_result");
  // The last traces are sent when the process stops.
  await member.stop();
  const traced = Buffer.concat(collector.requests.map(({ body }) => body)).toString();
  expect(traced).toContain("[redacted]");
  const written = JSON.stringify([logs, entries, threads, stored], (_key, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  expect(threads).toEqual([]);
  expect(entries.communications).toHaveLength(3);
  expect(written).toContain("[redacted]");
  for (const secret of secrets) {
    const found = [written, traced, member.log()].map((text) => text.includes(secret));
    expect([secret, ...found]).toEqual([secret, false, false, false]);
  }
  expect(member.log()).not.toContain("x-agent-signature");
});
