// An answer that has begun with white space, because its run is slow, still ends as JSON when its stream of the log fails.

import { expect, test } from "vitest";
import { modelFlags } from "../conformance/stage.ts";
import { openProvider } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService } from "../harness/service.ts";

const messages = [{ role: "user", content: "Hi" }];

test.each([
  ["/v1/chat/completions", { model: "gpt-4o", messages }],
  ["/v1/messages", { model: "gpt-4o", max_tokens: 100, messages }],
])("%s", async (path, body) => {
  const { clock, pass } = createHeldClock(15_000);
  const provider = await openProvider(async (wire) => await wire.hang());
  const service = await startService(modelFlags(provider), { clock, own: true });
  const headers = { authorization: `Bearer ${keyOf()}`, "content-type": "application/json" };
  const asked = fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const beats = setInterval(pass, 50);
  const response = await asked.finally(() => clearInterval(beats));
  expect(response.status).toBe(200);
  void service.close();
  expect(JSON.parse(await response.text())).toMatchObject({ error: { message: expect.any(String) } });
});
