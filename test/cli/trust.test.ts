// `trust`: keys are added, changed, listed and revoked, with their audit, against a real service.

import { describe, expect, test } from "vitest";
import { thumbprint } from "../../src/platform/base/public-key.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { freshKey } from "../jobs/trust-stage.ts";
import { makeSigner } from "../jobspec/signer.ts";
import { smallSpec } from "../jobspec/specs.ts";
import { ownFolder, runCommand, startCommand } from "./command.ts";

const token = "admin-token-for-the-tests";
const admin = { RUNNEL_ADMIN_TOKEN: token, RUNNEL_API_KEY: "" };

/** Opens a service and returns the commands against it. */
async function openStage(flags: Partial<Config> = {}) {
  // What a service trusts stays in its memory for a while.
  const { url } = await startService({ authAdminToken: token, ...flags }, { own: true });
  const trust = (...words: string[]) => runCommand(["trust", ...words, "--url", url], { environment: admin });
  const ask = async (...words: string[]) => JSON.parse((await trust(...words, "--json")).stdout);
  return { trust, ask };
}

test("a key is added by its public key, under its thumbprint or a name, listed, and revoked", async () => {
  const set = freshKey().toString("base64");
  const { trust } = await openStage({ trustKeysJson: JSON.stringify([{ kid: "from-settings", public_key: set }]) });
  const [one, other] = [freshKey(), freshKey()];
  const kid = thumbprint(one);
  expect(await trust("add", one.toString("base64"))).toEqual({ code: 0, stdout: `added ${kid}\n`, stderr: "" });
  const terms = ["--until", "2099-12-31", "--client", "ada", "--client", "bob", "--region", "EU"];
  expect(await trust("add", other.toString("base64"), "--kid", "portal", ...terms)).toMatchObject({
    code: 0,
    stdout: "added portal\n",
  });
  const { stdout, stderr } = await trust("list");
  const [head, settings, ...rows] = stdout.trimEnd().split("\n");
  expect(stderr).toBe("");
  expect(head).toMatch(/^KEY +STATE +STORED IN +FROM +UNTIL +CLIENTS +REGIONS +RUNNERS$/);
  expect(settings).toMatch(/^from-settings +trusted +settings +– +– +all +all +all$/);
  expect(rows).toHaveLength(2);
  expect(rows).toContainEqual(
    expect.stringMatching(/^portal +trusted +database +– +2099-12-31T00:00:00Z +ada bob +EU +all$/),
  );
  expect(await trust("revoke", "portal")).toEqual({ code: 0, stdout: "revoked portal\n", stderr: "" });
  expect((await trust("list")).stdout).toMatch(/^portal +revoked +database /m);
});

test("update changes the given fields only, and removes what the options remove", async () => {
  const { ask } = await openStage();
  const publicKey = freshKey().toString("base64");
  await ask("add", publicKey, "--kid", "k", "--from", "2020-01-01", "--client", "ada", "--region", "EU");
  const changed = await ask("update", "k", "--until", "2099-01-01", "--region", "US", "--region", "EU");
  expect(changed).toMatchObject({
    kid: "k",
    public_key: publicKey,
    status: "active",
    not_before: "2020-01-01T00:00:00Z",
    not_after: "2099-01-01T00:00:00Z",
    client_ids: ["ada"],
    regions: ["US", "EU"],
  });
  const freed = await ask("update", "k", "--from", "none", "--until", "none", "--no-client");
  expect(freed).toMatchObject({ regions: ["US", "EU"] });
  expect(freed).not.toHaveProperty("not_before");
  expect(freed).not.toHaveProperty("not_after");
  expect(freed).not.toHaveProperty("client_ids");
  expect(await ask("list")).toEqual({ keys: [freed] });
});

test("events show the actions and their actors, newest first, all or of one type", async () => {
  const { trust, ask } = await openStage();
  await ask("add", freshKey().toString("base64"), "--kid", "k");
  await ask("update", "k", "--region", "EU");
  await ask("revoke", "k");
  const { stdout, stderr } = await trust("events");
  const [head, ...rows] = stdout.trimEnd().split("\n");
  expect(stderr).toBe("");
  expect(head).toMatch(/^TIME +TYPE +BY +KEY +CODE +DETAIL$/);
  expect(rows.map((row) => row.split(/ +/).slice(1, 4))).toEqual([
    ["key.revoked", "admin", "k"],
    ["key.updated", "admin", "k"],
    ["key.created", "admin", "k"],
  ]);
  const { events } = await ask("events", "--type", "key.updated");
  expect(events).toMatchObject([{ type: "key.updated", actor: "admin", kid: "k" }]);
  expect(events[0].detail).toMatchObject({ before: { regions: [] }, after: { regions: ["EU"] } });
});

describe("a refusal", () => {
  test("keeps its reason and shows the fix", async () => {
    const set = freshKey().toString("base64");
    const { trust, ask } = await openStage({ trustKeysJson: JSON.stringify([{ kid: "set", public_key: set }]) });
    const fail = async (...words: string[]) => {
      const { code, stdout, stderr } = await trust(...words, "--json");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      return JSON.parse(stderr);
    };
    await ask("add", freshKey().toString("base64"), "--kid", "k");
    const list = expect.stringContaining("`runnel trust list`");
    expect(await fail("add", set)).toMatchObject({ reason: "KEY_EXISTS", fix: list });
    expect(await fail("add", "AQID")).toMatchObject({
      reason: "INVALID_ARGUMENT",
      violations: [{ field: "key.public_key" }],
    });
    expect(await fail("update", "nobody", "--region", "EU")).toMatchObject({ reason: "KEY_NOT_FOUND", fix: list });
    expect(await fail("update", "set", "--region", "EU")).toMatchObject({
      error: "the key comes from the settings: change it there",
      reason: "KEY_NOT_FOUND",
    });
    expect(await fail("revoke", "nobody")).toMatchObject({ reason: "KEY_NOT_FOUND", fix: list });
    await ask("revoke", "k");
    expect(await fail("update", "k", "--region", "EU")).toMatchObject({ reason: "KEY_REVOKED" });
  });

  test("without an admin token says whether the service or the caller lacks it", async () => {
    const none = await runCommand(["trust", "list"], { environment: { RUNNEL_API_KEY: "" } });
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("set RUNNEL_ADMIN_TOKEN") });
    const { url } = await startService();
    const refused = await runCommand(["trust", "list", "--url", url, "--json"], { environment: admin });
    expect(JSON.parse(refused.stderr)).toMatchObject({
      reason: "ADMIN_NOT_CONFIGURED",
      fix: expect.stringContaining("RUNNEL_AUTH_ADMIN_TOKEN"),
    });
  });

  test("of invalid arguments needs no service", async () => {
    for (const words of [
      ["add"],
      ["add", "AQID", "--until", "2001-01-01"],
      ["add", "AQID", "--from", "soon"],
      ["update"],
      ["update", "k"],
      ["revoke"],
    ]) {
      expect(await runCommand(["trust", ...words], { environment: admin })).toMatchObject({ code: 2, stdout: "" });
    }
  });
});

test("an invalid trust list keeps `serve` from starting, and is reported with the place", async () => {
  const environment = {
    RUNNEL_AUTH_ADMIN_TOKEN: token,
    RUNNEL_DEFAULTS_MODEL: "demo",
    TRUSTED_KEYS_JSON: '[{"kid":"a"}]',
  };
  for (const words of [["serve"], ["config", "check"]]) {
    const { code, stdout, stderr } = await runCommand(words, { environment });
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('trust.keys_json is not a valid trust list: entry 0 (kid "a") has no public_key');
  }
});

test("trust is enforced by `serve` and not by `dev`", async () => {
  const environment = { RUNNEL_AUTH_ADMIN_TOKEN: token, DATABASE_URL: await testDatabase() };
  const spec = makeSigner().signV1({ ...smallSpec, metadata: {} });
  const codeAt = async (url: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/api/v1/debug/verify`, { method: "POST", headers, body: spec });
    const answer = JSON.parse(await response.text());
    expect(answer).toMatchObject({ verify: "ok", trust: "unknown" });
    return answer.error_code;
  };
  expect(await codeAt((await startProcess(environment)).url)).toBe("trust_violation:unknown");
  const dev = startCommand(["dev", "--port", "0"], { environment, directory: await ownFolder() });
  const found = await until(
    "dev to print where it is",
    () => /^Runnel is ready on (http:\S+)/m.exec(dev.stderr()) ?? false,
  );
  expect(await codeAt(found[1] ?? "")).toBeUndefined();
  dev.child.kill("SIGINT");
  await dev.ended;
});
