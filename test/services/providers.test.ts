// What the administrator reads about the model providers.

import { expect, test } from "vitest";
import { fail, startWireServer } from "../fakes/wire-server.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";

const adminToken = "an-admin-token-of-tests";

test("only the administrator can list the providers, in matching order, with their breakers", async () => {
  await using server = await startWireServer(() => fail(503, "down"));
  const service = await startService({
    authAdminToken: adminToken,
    anthropicKey: "a-key",
    anthropicBaseUrl: server.origin,
    compatibleBaseUrl: server.origin,
    circuitMaxFailures: 2,
    circuitResetTimeoutSec: 60,
  });
  const ask = async (token: Record<string, string>): Promise<[number, unknown]> => {
    const response = await fetch(`${service.url}/v1/providers`, { headers: token });
    return [response.status, await response.json()];
  };
  const asAdmin = { authorization: `Bearer ${adminToken}` };
  const closed = { configured: true, circuit: "closed", failures: 0 };
  expect(await ask(asAdmin)).toEqual([
    200,
    {
      providers: [
        { name: "openai", configured: false, failures: 0 },
        { name: "gemini", configured: false, failures: 0 },
        { name: "anthropic", ...closed },
        { name: "compatible", ...closed },
      ],
    },
  ]);
  expect((await ask({}))[0]).toBe(401);
  expect(await ask(credentialsOf())).toEqual([403, expect.objectContaining({ reason: "ACCESS_DENIED" })]);

  const call = (path: string, body: object) =>
    fetch(`${service.url}${path}`, { method: "POST", headers: credentialsOf(), body: JSON.stringify(body) });
  await call("/v1/sessions", { session_id: "s", agent: { name: "x", model: "claude-sonnet-4" } });
  await call("/v1/sessions/s/messages", { message: "hello" });
  await (await fetch(`${service.url}/v1/sessions/s/stream`, { headers: credentialsOf() })).text();
  const asked = await ask(asAdmin);
  expect(asked).toEqual([200, expect.anything()]);
  const [, after] = (await ask(asAdmin)) as [number, { providers: { retry_time?: string }[] }];
  expect(after.providers[2]).toMatchObject({ name: "anthropic", circuit: "open", failures: 2 });
  expect(Date.parse(after.providers[2]?.retry_time ?? "")).toBeGreaterThan(Date.now());
  expect(after.providers[3]).toEqual({ name: "compatible", ...closed });
});
