// The service for its operator: health without credentials, and settings and API keys with the admin token, which the page forgets.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import type { Config } from "../../../src/platform/config/keys.ts";
import { keyOf } from "../../harness/credentials.ts";
import { openCuttingProxy } from "../../harness/cutting-proxy.ts";
import { testDatabase } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const asAdmin = { authorization: `Bearer ${authAdminToken}` };
const { createApiKey, listApiKeys, revokeApiKey } = AuthService.method;
const { getVersion } = SystemService.method;
const viewport = { width: 1280, height: 800 };

async function setStage(flags: Partial<Config> = {}) {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0, authAdminToken, ...flags });
  return { service, admin: new GrpcClient(service.target, asAdmin) };
}

/** Enters the token where the view asks for it. */
async function enterToken(page: Page, token = authAdminToken): Promise<void> {
  await page.getByLabel("Admin token, for the operator's views").fill(token);
  await page.getByRole("button", { name: "Use for 15 minutes" }).click();
}

/** Everything that outlives a page: storage of both kinds, cookies, and the address. */
async function readKept(page: Page): Promise<string> {
  const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  return JSON.stringify([stored, page.url(), await page.context().cookies()]);
}

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

describe("health", () => {
  test("shows versions and the state of the database, without credentials", async () => {
    const proxy = await openCuttingProxy(await testDatabase());
    const { service } = await setStage({ databaseUrl: proxy.url });
    const { page } = await openConsole(service.url, "service", { client: null, viewport });
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    const health = page.getByRole("region", { name: "Health" });
    const { version, postgresVersion } = await new GrpcClient(service.target, {}).call(getVersion, {});
    await health.getByText(postgresVersion, { exact: true }).waitFor();
    await health.getByText(version, { exact: true }).waitFor();
    await health.getByText("ready", { exact: true }).waitFor();
    proxy.breakDown();
    await until("a replica that is not ready", async () => (await fetch(`${service.url}/readyz`)).status === 503);
    await health.getByRole("button", { name: "Check now" }).click();
    await health.getByText("not ready", { exact: true }).waitFor();
    await health.getByText(/^the database does not answer|^no lease/).waitFor();
    await health.getByText("The versions are not known").waitFor();
    await expectFit(page, "a service without its database");
    proxy.mend();
    await health.getByText("ready", { exact: true }).waitFor();
    await health.getByText(postgresVersion, { exact: true }).waitFor();
    await health.getByRole("link", { name: "/v1/limits" }).click();
    await seeText(page, "concurrent_runs_max");
  });
});

describe("settings", () => {
  test("need the token, have a filter and an open row in the address, and show no secret", async () => {
    const { service } = await setStage({ runsSlots: 12, trustAudience: "<img src=x onerror=alert(1)>\u001b[31m" });
    const opened = await openConsole(service.url, "service", { viewport });
    const { page } = opened;
    await seeText(page, "The settings need the admin token");
    await expectFit(page, "without a token");
    await enterToken(page);
    await row(page, "runs.lease_ms").filter({ hasText: "5000" }).filter({ hasText: "default" }).waitFor();
    await row(page, "runs.slots")
      .filter({ hasText: "12" })
      .filter({ hasText: "256" })
      .filter({ hasText: "flag" })
      .waitFor();
    await row(page, "auth.admin_token").filter({ hasText: "(set)" }).waitFor();
    await row(page, "trust.audience").filter({ hasText: "<img src=x onerror=alert(1)>␛[31m" }).waitFor();
    const content = await page.content();
    for (const secret of [authAdminToken, keyOf(), service.databaseUrl]) {
      expect(content).not.toContain(secret);
    }
    await expectFit(page, "settings");

    await page.locator(".chip", { hasText: "changed only" }).click();
    await row(page, "runs.lease_ms").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("SLOTS");
    await seeText(page, /^1 of \d+ settings$/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.locator(":focus", { hasText: "runs.slots" }).waitFor();
    await page.keyboard.press("Enter");
    await seeText(page, "RUNNEL_RUNS_SLOTS");
    expect(new URL(page.url()).search).toBe("?changed=yes&q=SLOTS&setting=runs.slots");
    await expectFit(page, "one setting");
    // The token is not in the page's storage, so a reload asks again and then shows the same.
    await page.reload();
    await enterToken(page);
    await seeText(page, /^1 of \d+ settings$/);
    await seeText(page, "RUNNEL_RUNS_SLOTS");
    await page.getByRole("searchbox", { name: "Text in a setting" }).fill("no such text");
    await seeText(page, "No setting matches this filter.");
    expectCalm(opened);
  });

  test("are refused to a client, whose key is no admin token", async () => {
    const { service, admin } = await setStage();
    await admin.call(createApiKey, { clientId: "ada", displayName: "key of another client" });
    const { page } = await openConsole(service.url, "service?tab=keys", { client: "stranger" });
    await seeText(page, "The API keys need the admin token");
    await enterToken(page, keyOf("stranger"));
    await seeText(page, "The service refuses this admin token");
    await seeText(page, "the method needs the admin token");
    expect(await page.content()).not.toContain("key of another client");
    await expectFit(page, "a refused token");
    await page.getByRole("button", { name: "Enter another token" }).click();
    await enterToken(page);
    await row(page, "key of another client").waitFor();
  });
});

describe("API keys", () => {
  test("are created and shown once, listed by client in the address, and revoked after a question", async () => {
    const { service, admin } = await setStage();
    const opened = await openConsole(service.url, "service?tab=keys", {
      viewport,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { page } = opened;
    await enterToken(page);
    await seeText(page, "No API keys yet");
    await expectFit(page, "no keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    const name = "<img src=x onerror=alert(1)>\u001b[31m";
    await page.getByLabel("Client", { exact: true }).last().fill("billing");
    await page.getByLabel("Name, for people").fill("laptop");
    await page.getByLabel("Last day").fill("2999-12-31");
    await expectFit(page, "the form of a key");
    await page.getByRole("button", { name: "Create the key" }).click();
    await seeText(page, "The key is shown only this once");
    const key = await page.getByLabel("The key", { exact: true }).innerText();
    expect(key).toMatch(/^rk_/);
    await expectFit(page, "a new key");
    await page.getByRole("button", { name: "Copy" }).click();
    await seeText(page, "Copied");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await row(page, "billing").filter({ hasText: "laptop" }).filter({ hasText: "valid" }).waitFor();
    expect(await page.content()).not.toContain(key);
    const asBilling = new GrpcClient(service.target, { authorization: `Bearer ${key}` });
    expect((await asBilling.call(SessionService.method.listSessions, {})).sessions).toEqual([]);
    const { apiKeys } = await admin.call(listApiKeys, { clientId: "billing" });
    expect(apiKeys).toMatchObject([{ displayName: "laptop" }]);
    const expireMs = Number(apiKeys[0]?.expireTime?.seconds ?? 0n) * 1_000;
    expect(new Date(expireMs).getFullYear()).toBe(3000);

    await admin.call(createApiKey, { clientId: "ada", displayName: name });
    await page.getByRole("searchbox", { name: "Client" }).fill("ada");
    await page.getByRole("searchbox", { name: "Client" }).press("Enter");
    await row(page, "<img src=x onerror=alert(1)>␛[31m").waitFor();
    expect(await row(page, "laptop").count()).toBe(0);
    expect(new URL(page.url()).search).toBe("?tab=keys&client=ada");
    await page.reload();
    await enterToken(page);
    await row(page, "ada").waitFor();
    await page.getByRole("button", { name: /client: ada/ }).click();

    await row(page, "laptop").waitFor();
    await expectFit(page, "keys");
    await page.keyboard.press("j");
    await page.locator(":focus", { hasText: "Revoke" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const question = page.getByRole("dialog", { name: "Revoke this key?" });
    await question.getByText("laptop").waitFor();
    await expectFit(page, "the question");
    await question.getByRole("button", { name: "Keep it" }).click();
    await asBilling.call(SessionService.method.listSessions, {});
    await page.getByRole("button", { name: "Revoke the key laptop of billing" }).click();
    await question.getByRole("button", { name: "Revoke the key" }).click();
    await row(page, "laptop").filter({ hasText: "revoked" }).waitFor();
    await expect(asBilling.call(SessionService.method.listSessions, {})).rejects.toMatchObject({ code: 16 });
    expectCalm(opened);
  });

  test("beyond a page are behind a button", async () => {
    const { service, admin } = await setStage();
    for (let count = 0; count < 51; count += 1) {
      await admin.call(createApiKey, { clientId: "ada", displayName: `number ${count}.` });
    }
    const { page } = await openConsole(service.url, "service?tab=keys");
    await enterToken(page);
    await row(page, "number 50.").waitFor();
    await page.getByRole("button", { name: "Older keys" }).click();
    await row(page, "number 0.").waitFor();
  });
});

describe("credentials", () => {
  test("the admin token and all that it showed are forgotten after 15 minutes", async () => {
    const { service, admin } = await setStage();
    await admin.call(createApiKey, { clientId: "ada", displayName: "laptop" });
    const opened = await openConsole(service.url, "runs");
    const { page } = opened;
    await page.clock.install();
    await page.goto(`${service.url}/console/service?tab=keys`);
    await enterToken(page);
    await row(page, "laptop").waitFor();
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Client", { exact: true }).last().fill("ada");
    await page.getByRole("button", { name: "Create the key" }).click();
    const key = await page.getByLabel("The key", { exact: true }).innerText();
    expect(await readKept(page)).not.toContain(authAdminToken);
    expect(await readKept(page)).not.toContain(key);

    await page.clock.fastForward("14:00");
    expect(await page.getByLabel("The key", { exact: true }).innerText()).toBe(key);
    await page.clock.fastForward("01:00");
    await seeText(page, "The admin token has expired in this page");
    const content = await page.content();
    expect(content).not.toContain(key);
    expect(content).not.toContain("laptop");
    await expectFit(page, "an expired token");
    // Another view has forgotten it as well.
    await page.getByRole("tab", { name: "Settings" }).click();
    await seeText(page, "The admin token has expired in this page");
    await enterToken(page);
    await row(page, "runs.slots").waitFor();
    expect(await readKept(page)).not.toContain(authAdminToken);
    expectCalm(opened);
  });

  test("the dialog begins in the field of the key, and says in a person's words what is wrong", async () => {
    const { service } = await setStage();
    const { page } = await openConsole(service.url, "runs", { client: null });
    const dialog = page.getByRole("dialog", { name: "The service asks for an API key" });
    await dialog.locator("input[name=key]:focus").waitFor();
    await seeText(page, "this page has no API key: enter one");
    for (const [key, problem] of [
      ["wrong", "the service does not accept this API key: it is unknown, was revoked or has expired"],
      ["   ", "a key has only letters, digits and signs of ASCII, and no space: copy it again"],
      ["schlüssel", "a key has only letters, digits and signs of ASCII, and no space: copy it again"],
    ] as const) {
      await dialog.getByLabel("API key").fill(key);
      await dialog.getByRole("button", { name: "Use this key" }).click();
      await dialog.getByRole("alert").filter({ hasText: problem }).waitFor();
      await dialog.locator("input[name=key]:focus").waitFor();
    }
    await expectFit(page, "a refused key");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(keyOf());
    await page.keyboard.press("Enter");
    await seeText(page, "No runs yet");
  });

  test("a key that is revoked while a run is shown gives its reason, and the page keeps what it shows", async () => {
    const { service, admin } = await setStage();
    const created = await admin.call(createApiKey, { clientId: "ada", displayName: "laptop" });
    const client = new GrpcClient(service.target, { authorization: `Bearer ${created.key}` });
    const { sessionId } = await client.call(SessionService.method.createSession, {
      agent: { name: "asker", model: "demo", tools: { builtin: ["list_dir"], approve: ["list_dir"] } },
    });
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "List the files." });
    const { page } = await openConsole(service.url, `runs/${runId}`, { client: null });
    const asked = page.getByRole("dialog", { name: "The service asks for an API key" });
    await asked.getByLabel("API key").fill(created.key);
    await asked.getByRole("button", { name: "Use this key" }).click();
    await seeText(page, "List the files.");
    await seeBadge(page, /^live/);
    await admin.call(revokeApiKey, { keyId: created.apiKey?.keyId ?? "" });
    // The stream of the run ends at once, and so do those of the lists.
    const refused = page.getByRole("dialog", { name: "The service refuses your API key" });
    await refused.getByText("The key was revoked.").waitFor();
    await seeBadge(page, /^stopped: the service does not accept this API key: it was revoked/);
    await seeText(page, "List the files.");
    await expectFit(page, "a revoked key");
  });

  test("a key that is kept until the tab is closed survives a reload, and no other tab has it", async () => {
    const { service } = await setStage();
    const { page } = await openConsole(service.url, "runs", { client: null });
    const asked = (each: Page) => each.getByRole("dialog", { name: "The service asks for an API key" });
    await asked(page).getByLabel("API key").fill(keyOf());
    await asked(page).getByLabel("Keep it until this tab is closed").check();
    await asked(page).getByRole("button", { name: "Use this key" }).click();
    await seeText(page, "No runs yet");
    await page.reload();
    await seeText(page, "No runs yet");
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toContain(keyOf());
    const elsewhere = await page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie, location.href])");
    expect([elsewhere, await page.context().cookies()].join()).not.toContain(keyOf());

    const tab = await page.context().newPage();
    await tab.goto(`${service.url}/console/runs`);
    await asked(tab).waitFor();
    expect(await readKept(tab)).not.toContain(keyOf());
  });
});

test("the pictures", async () => {
  const environment = {
    RUNNEL_CONSOLE_ENABLED: "true",
    RUNNEL_AUTH_ADMIN_TOKEN: authAdminToken,
    RUNNEL_SERVER_CORS_ORIGINS: "https://app.example",
    RUNNEL_PROVIDERS_ANTHROPIC_KEY: "a-key-for-the-picture",
    RUNNEL_RUNS_SLOTS: "64",
    RUNNEL_RETENTION_DAYS: "30",
  };
  const service = await startService({}, { environment });
  const admin = new GrpcClient(service.target, asAdmin);
  const lastDay = { seconds: 1_830_297_600n, nanos: 0 };
  const names = ["old laptop", "nightly reports", "integration tests", "production, eu1", "production, eu2"];
  for (const [index, displayName] of names.entries()) {
    const clientId = index === 1 ? "reporting" : index === 2 ? "ci" : "billing";
    const { apiKey } = await admin.call(createApiKey, {
      clientId,
      displayName,
      ...(index > 1 && { expireTime: lastDay }),
    });
    if (index === 0) {
      await admin.call(revokeApiKey, { keyId: apiKey?.keyId ?? "" });
    }
  }
  const pictures = [
    { name: "service", path: "service?changed=yes&setting=server.cors_origins", text: "in the environment" },
    { name: "service-keys", path: "service?tab=keys", text: "old laptop" },
  ];
  for (const picture of pictures) {
    await takePicture(service.url, { ...picture, prepare: prepareAsOperator });
  }
});

/** Closes the message about the token, which would cover a part of the view. */
async function prepareAsOperator(page: Page): Promise<void> {
  await enterToken(page);
  await page.getByRole("button", { name: "Close message" }).click();
}
