// `keys`: the commands make, use, list and revoke keys against a real service, with the admin token of the environment.

import { expect, test } from "vitest";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { runCommand, runShell } from "./command.ts";

const token = "admin-token-for-the-tests";
const admin = { RUNNEL_ADMIN_TOKEN: token, RUNNEL_API_KEY: "" };

function keys(words: readonly string[], environment: Record<string, string> = admin) {
  return runCommand(["keys", ...words], { environment });
}

test("create prints the key alone, so that it can be piped into the environment of a caller", async () => {
  const { url } = await startService({ authAdminToken: token });
  const made = await keys(["create", "--client", "billing", "--name", "in production", "--url", url]);
  expect(made).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\S{20,}\n$/),
    stderr: expect.stringMatching(/^key [0-9a-f-]{36} of client billing: it is shown this once\n$/),
  });
  expect(made.stderr).not.toContain(made.stdout.trim());
  const script = `RUNNEL_API_KEY=$($runnel keys create --client shipping --url ${url}) $runnel run 'hello pace=0' --url ${url}`;
  expect(await runShell(script, { environment: admin })).toMatchObject({ code: 0 });
});

test("list shows all keys, newest first, or those of one client; revoke ends one", async () => {
  const { url } = await startService({ authAdminToken: token });
  await keys(["create", "--client", "billing", "--expires", "30d", "--url", url]);
  const made = await keys(["create", "--client", "shipping", "--json", "--url", url]);
  const { api_key: apiKey, key } = JSON.parse(made.stdout);
  expect(made).toEqual({ code: 0, stdout: expect.stringMatching(/^[^\n]+\n$/), stderr: "" });
  const list = await keys(["list", "--url", url]);
  expect(list.stderr).toBe("");
  expect(list.stdout.split("\n")).toEqual([
    expect.stringMatching(/^KEY +CLIENT +NAME +CREATED +EXPIRES +STATE$/),
    expect.stringMatching(new RegExp(`^${apiKey.key_id} +shipping +– +\\d{4}-\\S+Z +– +active$`)),
    expect.stringMatching(/^[0-9a-f-]{36} +billing +– +\d{4}-\S+Z +\d{4}-\S+Z +active$/),
    "",
  ]);
  expect(list.stdout).not.toContain(key);
  const revoked = await keys(["revoke", apiKey.key_id, "--url", url]);
  expect(revoked).toEqual({ code: 0, stdout: `revoked ${apiKey.key_id} of client shipping\n`, stderr: "" });
  const own = await keys(["list", "--client", "shipping", "--json", "--url", url]);
  expect(JSON.parse(own.stdout)).toEqual({
    api_keys: [{ ...apiKey, revoke_time: expect.any(String) }],
  });
  expect((await keys(["list", "--url", url])).stdout).toMatch(/shipping .* revoked$/m);
  const refused = await runCommand(["run", "hello", "--url", url], { environment: { RUNNEL_API_KEY: key } });
  expect(refused).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("fix      check RUNNEL_API_KEY"),
  });
});

test("an expiry is a duration from now, or a date", async () => {
  const { url } = await startService({ authAdminToken: token });
  const endOf = async (expires: string) => {
    const { stdout } = await keys(["create", "--client", "billing", "--expires", expires, "--json", "--url", url]);
    const { create_time: createTime, expire_time: expireTime } = JSON.parse(stdout).api_key;
    return { expireTime, hours: (Date.parse(expireTime) - Date.parse(createTime)) / 3_600_000 };
  };
  expect((await endOf("90m")).hours).toBeCloseTo(1.5, 1);
  expect((await endOf("12h")).hours).toBeCloseTo(12, 1);
  expect((await endOf("4w")).hours).toBeCloseTo(4 * 7 * 24, 1);
  expect((await endOf("2100-02-03")).expireTime).toBe("2100-02-03T00:00:00Z");
  expect((await endOf("2100-02-03T04:05+01:00")).expireTime).toBe("2100-02-03T03:05:00Z");
});

test("a missing or wrong admin token is reported with the fix", async () => {
  const none = await keys(["list"], { RUNNEL_API_KEY: "" });
  expect(none).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "runnel: no admin token is set\n  fix      set RUNNEL_ADMIN_TOKEN to what the service has as RUNNEL_AUTH_ADMIN_TOKEN\n",
  });
  const { url } = await startService({ authAdminToken: token });
  const wrong = await keys(["list", "--url", url, "--json"], { RUNNEL_ADMIN_TOKEN: "another-token-of-somebody" });
  expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 1, stdout: "" });
  expect(JSON.parse(wrong.stderr)).toEqual({
    error: "invalid bearer token",
    reason: "TOKEN_INVALID",
    fix: expect.stringContaining("RUNNEL_ADMIN_TOKEN"),
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  // The service's own variable works too, where both share an environment.
  expect((await keys(["list", "--url", url], { RUNNEL_AUTH_ADMIN_TOKEN: token })).code).toBe(0);
});

test("a refusal of the service keeps its reason, and its id finds the call in the log", async () => {
  const { url, log } = await startProcess({ DATABASE_URL: await testDatabase(), RUNNEL_AUTH_ADMIN_TOKEN: token });
  const unknown = await keys(["revoke", "01890000-0000-7000-8000-000000000000", "--url", url]);
  expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 1, stdout: "" });
  const [, requestId = ""] =
    /^runnel: API key not found\n {2}fix {6}`runnel keys list`[^\n]+\n {2}request {2}([0-9a-f]{32})\n$/.exec(
      unknown.stderr,
    ) ?? [];
  expect(log()).toContain(`"requestId":"${requestId}"`);
  const bad = await keys(["create", "--client", "two words", "--url", url, "--json"]);
  expect(JSON.parse(bad.stderr)).toMatchObject({
    reason: "INVALID_ARGUMENT",
    violations: [{ field: "client_id", description: expect.any(String) }],
  });
});

test("secret prints a new secret each time, without a call", async () => {
  const [one, other] = await Promise.all([keys(["secret"], {}), keys(["secret", "--json"], {})]);
  expect(one).toEqual({ code: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/), stderr: "" });
  const { secret } = JSON.parse(other.stdout);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(one.stdout.trim()).not.toBe(secret);
});
