// Inputs that no front end sends: each gets an answer, and none an internal error, a loss, or something of another key.

import { HttpAgent } from "@ag-ui/client";
import { expect, test } from "vitest";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { oddBodies, oddValues } from "../harness/odd-values.ts";
import { ask, openAgent, setAgUiStage, textsOf } from "./stage.ts";

const user = { role: "user", id: "u1", content: "Hi" };
const tool = { name: "f", description: "", parameters: { type: "object" } };

const places: readonly ((value: unknown) => object)[] = [
  (value) => ({ threadId: value }),
  (value) => ({ runId: value, parentRunId: value }),
  (value) => ({ messages: value }),
  (value) => ({ messages: [value] }),
  (value) => ({ messages: [user, { role: value, id: "x", content: "x" }] }),
  (value) => ({ messages: [{ ...user, id: value }] }),
  (value) => ({ messages: [{ ...user, content: value }] }),
  (value) => ({ messages: [{ ...user, content: [{ type: "image", source: value }] }] }),
  (value) => ({ messages: [user, { role: "assistant", id: "a1", content: value, toolCalls: value }, user] }),
  (value) => ({ messages: [user, { role: "assistant", id: "a1", toolCalls: [{ id: "c", function: value }] }, user] }),
  (value) => ({ messages: [{ role: "tool", id: "t1", toolCallId: value, content: value }] }),
  (value) => ({ tools: value }),
  (value) => ({ tools: [{ ...tool, name: value }] }),
  (value) => ({ tools: [{ ...tool, parameters: value, description: value }] }),
  (value) => ({ context: [value] }),
  (value) => ({ context: value, state: value, forwardedProps: value }),
  (value) => ({ resume: value }),
  (value) => ({ resume: [{ interruptId: "i", status: value, payload: value }] }),
];

test("no input gives an internal error", { timeout: 120_000 }, async () => {
  const { provider, service } = await setAgUiStage({ rateLimitRps: 10_000, rateLimitBurst: 10_000 });
  provider.respond(answer("a secret of another key"));
  const stranger = openAgent(HttpAgent, service.url, { clientId: "stranger" });
  ask(stranger, "Hi");
  await stranger.runAgent();
  const said = textsOf(stranger);
  const bodies = places.flatMap((bodyOf, place) =>
    oddValues.map((value, index) => {
      // The first place asks for the other key's thread.
      const threadId = index === 0 ? "thread-1" : `t-${place}-${index}`;
      return JSON.stringify({ threadId, runId: "r1", messages: [user], ...bodyOf(value) });
    }),
  );
  provider.respond(...bodies.map(() => answer("ok")));
  for (const path of ["default", "default/connect"]) {
    for (const body of [...bodies, ...oddBodies]) {
      const headers = { "content-type": "application/json", ...credentialsOf() };
      const answered = await fetch(`${service.url}/v1/ag-ui/${path}`, { method: "POST", headers, body });
      const text = await answered.text();
      expect([answered.status < 500, path, body, text]).toEqual([true, path, body, text]);
      expect(text).not.toContain("a secret");
      if (answered.status !== 200) {
        expect(JSON.parse(text)).toMatchObject({ error: expect.any(String), code: expect.any(String) });
      }
    }
  }
  expect(bodies.length).toBeGreaterThan(200);
  const again = openAgent(HttpAgent, service.url, { clientId: "stranger", preset: "default/connect" });
  await again.runAgent();
  expect(textsOf(again)).toEqual(said);
});
