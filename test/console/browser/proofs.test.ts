// Receipts and signatures in the console: what the page checks itself, and what it shows of the service's checks.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { answer } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { setJobStage, specOf } from "../../jobs/stage.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeText } from "./console-page.ts";

const authAdminToken = "the-admin-token-of-these-tests";

async function setStage() {
  const flags = { consoleEnabled: true, rateLimitRps: 0, authAdminToken, trustVerifyIntervalSec: 0 };
  const stage = await setJobStage(flags);
  return { ...stage, client: new GrpcClient(stage.service.target) };
}

async function completeRun({ provider, client }: Awaited<ReturnType<typeof setStage>>): Promise<string> {
  provider.respond(answer("Done."));
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "prover" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  return (await endOfRun(client, runId)).runId;
}

/** Returns the words beside the names of the checks, in their order. */
async function verdictsOf(page: Page): Promise<readonly string[]> {
  return await page.locator(".checks .state").allTextContents();
}

async function chooseFile(page: Page, name: string, content: object): Promise<void> {
  const buffer = Buffer.from(JSON.stringify(content));
  await page.getByLabel("Choose its file").setInputFiles({ name, mimeType: "application/json", buffer });
}

test("a receipt is opened from its run, checked in the page, downloaded, and checked again from its file", async () => {
  const stage = await setStage();
  const runId = await completeRun(stage);
  const opened = await openConsole(stage.service.url, `runs/${runId}`);
  const { page } = opened;
  await page.getByRole("link", { name: "Receipt" }).click();
  await seeText(page, "The log is the one that was signed");
  expect(await verdictsOf(page)).toEqual(["valid", "valid", "valid"]);
  await page.reload();
  await seeText(page, "The log is the one that was signed");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const file = await (await downloading).path();
  const receipt = JSON.parse(readFileSync(file, "utf8")) as { readonly jws: string; readonly statement: object };
  expect(receipt.statement).toMatchObject({ run_id: runId, status: "completed" });

  const [header, payload = "", signature] = receipt.jws.split(".");
  const changed = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...changed, status: "failed" })).toString("base64url");
  await chooseFile(page, "forged.json", { jws: [header, forged, signature].join(".") });
  await seeText(page, "The receipt and the log do not fit (forged.json)");
  expect(await verdictsOf(page)).toEqual(["invalid", "not checked", "not checked"]);

  await chooseFile(page, "kept.json", receipt);
  await seeText(page, "The log is the one that was signed (kept.json)");
  expectCalm(opened);
});

test("a kept receipt shows that the stored log was changed", async () => {
  const stage = await setStage();
  const runId = await completeRun(stage);
  const { page } = await openConsole(stage.service.url, `runs/${runId}/receipt`);
  await seeText(page, "The log is the one that was signed");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const receipt = JSON.parse(readFileSync(await (await downloading).path(), "utf8")) as object;
  const change = "update run_result set payload = payload || '\\x00' where run_id = $1 and sequence = 2";
  await query(stage.service.databaseUrl, change, [runId]);
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByRole("alert").waitFor();
  await chooseFile(page, "kept.json", receipt);
  await seeText(page, "The receipt and the log do not fit (kept.json)");
  expect(await verdictsOf(page)).toEqual(["valid", "invalid", "not checked"]);
});

test("a run that is active has no receipt yet", async () => {
  const stage = await setStage();
  stage.provider.respond((wire) => wire.hang());
  const { sessionId } = await stage.client.call(SessionService.method.createSession, { agent: { name: "prover" } });
  const { runId } = await stage.client.call(SessionService.method.sendMessage, { sessionId, message: "hello" });
  const { page } = await openConsole(stage.service.url, `runs/${runId}/receipt`);
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("button", { name: "Download" }).isDisabled()).toBe(true);
});

test("a JobSpec shows each check, and the first byte that was signed differently", async () => {
  const { service, signer } = await setStage();
  const opened = await openConsole(service.url, "signatures");
  const { page } = opened;
  await enterAdminToken(page, authAdminToken);
  const spec = signer.signV1(specOf());
  await page.getByLabel("Signed JobSpec").fill(spec);
  await page.getByRole("button", { name: "Verify" }).click();
  await seeText(page, "The service would accept this spec");
  expect(await verdictsOf(page)).toEqual(["valid", "valid", "valid"]);

  const canonical = (await page.getByRole("group", { name: /^canonical/ }).textContent()) ?? "";
  const signed = canonical.replace("bias-detection", "bias-detektion");
  const wrong = { ...JSON.parse(spec), signature: signer.signBytes(signed) };
  await page.getByLabel("Signed JobSpec").fill(JSON.stringify(wrong));
  await page.getByLabel("The bytes that the signer signed").fill(signed);
  await page.getByRole("button", { name: "Verify" }).click();
  await seeText(page, "The service would refuse this spec");
  expect(await verdictsOf(page)).toEqual(["invalid", "valid", "invalid"]);
  expect(await page.locator("mark").allTextContents()).toEqual(["c", "k"]);
  await page.getByRole("heading", { name: `Byte ${canonical.indexOf("bias-detection") + 10} is the first` }).waitFor();
  expectCalm(opened);
});

test("a signature made step by step is accepted, and the secret is in no call and no store", async () => {
  const { service } = await setStage();
  const opened = await openConsole(service.url, "signatures?tab=request");
  const { page } = opened;
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
  const secret = keyOf("tenant-a");
  await page.getByLabel("Client").fill("tenant-a");
  await page.getByLabel("Secret").fill(secret);
  await page.getByLabel("Method").fill("POST");
  await page.getByLabel("Path and query").fill("/v1/sessions");
  await page.getByRole("textbox", { name: "Body" }).fill('{"agent":{"name":"it\'s signed"}}');
  const shown = page.getByRole("group", { name: "signed call for curl" });
  await shown.filter({ hasText: "it'\\''s signed" }).waitFor();
  const command = (await shown.textContent()) ?? "";
  expect(command).not.toContain(secret);
  const headers = Object.fromEntries(
    [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  const call = (body: string) => fetch(`${service.url}/v1/sessions`, { method: "POST", headers, body });
  expect((await call('{"agent":{"name":"changed"}}')).status).toBe(401);
  expect((await call('{"agent":{"name":"it\'s signed"}}')).status).toBeLessThan(300);
  const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  expect([stored, ...sent].join("\n")).not.toContain(secret);
  await page.getByRole("tab", { name: "JobSpec" }).click();
  await page.getByRole("tab", { name: "Request" }).click();
  expect(await page.getByLabel("Secret").inputValue()).toBe("");
  expectCalm(opened);
});

test("receipts and signatures fit both themes and narrow screens, with nothing that axe finds", async () => {
  const stage = await setStage();
  const runId = await completeRun(stage);
  const { page } = await openConsole(stage.service.url, `runs/${runId}/receipt`);
  await seeText(page, "The log is the one that was signed");
  await expectFit(page, "receipt");
  await page.goto(`${stage.service.url}/console/signatures?tab=request`);
  await page.getByLabel("Secret").fill("secret");
  await seeText(page, "4. Send the request");
  await expectFit(page, "request");
  await page.getByRole("tab", { name: "JobSpec" }).click();
  await enterAdminToken(page, authAdminToken);
  await page.getByLabel("Signed JobSpec").fill(stage.signer.signV1(specOf()));
  await page.getByLabel("The bytes that the signer signed").fill("{}");
  await page.getByRole("button", { name: "Verify" }).click();
  await seeText(page, "is the first that differs");
  await expectFit(page, "jobspec");
});
