// Keys that are valid only for some clients, regions and runners.

import { expect, test } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { answer } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { makeSigner } from "../jobspec/signer.ts";
import { jobApi, setJobStage, specOf } from "./stage.ts";

const adminToken = "admin-token-of-the-tests";

async function setScopeStage(flags: Partial<Config> = {}) {
  const stage = await setJobStage({ authAdminToken: adminToken, ...flags });
  const signer = makeSigner();
  const trust = async (method: string, path: string, scope: object): Promise<void> => {
    const key = { kid: "scoped", public_key: Buffer.from(signer.rawKey).toString("base64"), ...scope };
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const response = await fetch(`${stage.service.url}${path}`, { method, headers, body: JSON.stringify(key) });
    expect(response.ok).toBe(true);
  };
  return {
    ...stage,
    signer,
    add: (scope: object) => trust("POST", "/v1/trust/keys", scope),
    change: (scope: object) => trust("PUT", "/v1/trust/keys/scoped", scope),
  };
}

const refused = (reason: string) => ({
  status: 400,
  body: { error: `untrusted signing key: ${reason}`, error_code: "trust_violation:unknown" },
});

test("a spec outside the key's client, region or runner scope is refused, and one within it is accepted", async () => {
  const { api, service, signer, add, change } = await setScopeStage();
  const submit = (regions: readonly string[]) => api.submit(signer.signV1(specOf({ constraints: { regions } })));
  await add({ client_ids: ["stranger"] });
  expect(await submit(["EU"])).toMatchObject(refused("not trusted for this client"));
  const stranger = jobApi(service.url, "stranger");
  expect((await stranger.submit(signer.signV1(specOf()))).status).toBe(202);
  await change({ regions: ["EU"] });
  expect(await submit(["EU", "US"])).toMatchObject(refused('key "scoped" is not trusted for region US'));
  expect((await submit(["EU"])).status).toBe(202);
  await change({ runners: ["somewhere/else"] });
  expect(await submit(["EU"])).toMatchObject(refused('key "scoped" is not trusted for runner benchmark'));
  await change({ runners: ["somewhere/else", "benchmark"] });
  expect((await submit(["EU"])).status).toBe(202);
});

test("a narrowed scope stops runs that have not begun", async () => {
  const { api, provider, signer, add, change } = await setScopeStage({ runsSlots: 1 });
  await add({});
  const pause = Promise.withResolvers<void>();
  provider.respond(async (...args) => {
    await pause.promise;
    await answer("at last")(...args);
  });
  const spec = specOf({ version: "2.0", questions: ["?"], constraints: { regions: ["US", "EU"], min_regions: 2 } });
  const { body } = await api.submit(signer.signV1(spec));
  await until("one region is at work, and the other waits for its slot", () => provider.requests.length === 1);
  const executions = (await api.get(body.id)).body.executions as { region: string; status: string }[];
  const begun = executions.find(({ status }) => status === "running")?.region;
  const other = executions.find(({ status }) => status === "queued")?.region;
  await change({ regions: [begun] });
  pause.resolve();
  const job = await api.end(body.id);
  const error = `jobspec validate: untrusted signing key: key "scoped" is not trusted for region ${other}`;
  expect(job).toMatchObject({ status: "failed", successful_regions: 1 });
  expect(job.executions).toContainEqual(expect.objectContaining({ region: begun, status: "completed" }));
  expect(job.executions).toContainEqual(
    expect.objectContaining({ region: other, status: "failed", error_code: "RUNNER_EARLY_FAILURE", error }),
  );
});
