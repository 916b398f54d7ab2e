// Signed jobs in the console: submitted, followed, found and cancelled; and the keys that the operator trusts.

import { generateKeyPairSync } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Job_State } from "#gen/runnel/job/v1/job_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { TrustedKey_State } from "#gen/runnel/job/v1/trust_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { answer, type Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { until } from "../../harness/wait.ts";
import { setJobStage, specOf, stamp } from "../../jobs/stage.ts";
import { makeSigner, type Signer } from "../../jobspec/signer.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const viewport = { width: 1280, height: 800 };

/** No answer, however often the service asks again. */
const hanging = Array.from({ length: 50 }, (): Script => (wire) => wire.hang());

async function setStage() {
  const flags = { consoleEnabled: true, rateLimitRps: 0, authAdminToken, trustVerifyIntervalSec: 0 };
  const stage = await setJobStage(flags);
  const client = new GrpcClient(stage.service.target);
  const admin = new GrpcClient(stage.service.target, { authorization: `Bearer ${authAdminToken}` });
  const submit = async (changes: Record<string, unknown> = {}, signer: Signer = stage.signer): Promise<string> => {
    const data = Buffer.from(signer.signV1(specOf(changes)));
    return (await client.call(JobService.method.submitJob, { document: { data } })).id;
  };
  const jobOf = async (id: string) => (await client.call(JobService.method.getJob, { id })).job;
  const end = (id: string) => until("the job to end", async () => (await jobOf(id))?.endTime !== undefined);
  return { ...stage, client, admin, submit, jobOf, end };
}

/** A public key as `openssl pkey -pubout` writes it, and its private half. */
function makePem(): { readonly publicKey: string; readonly privateKey: string; readonly base64: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: String(publicKey.export({ format: "pem", type: "spki" })),
    privateKey: String(privateKey.export({ format: "pem", type: "pkcs8" })),
    base64: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64"),
  };
}

async function addKey(page: Page, name: string, publicKey: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Public key").fill(publicKey);
  await dialog.getByRole("button", { name: "Add" }).click();
}

test("a spec is read before it is sent, refused with its field, verified, submitted, and shown as it was signed", async () => {
  const { service, signer, client, jobOf } = await setStage();
  const opened = await openConsole(service.url, "jobs", { viewport });
  const { page } = opened;
  await seeText(page, "No jobs yet");
  await expectFit(page, "no jobs");
  await page.getByRole("link", { name: "Submit a JobSpec" }).click();
  await seeText(page, "What the document says appears here");
  expect(await page.getByRole("button", { name: "Submit" }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Verify first" }).isDisabled()).toBe(true);

  const { timestamp } = stamp();
  await page.getByLabel("Signed JobSpec").fill(signer.signV1(specOf({ metadata: { timestamp } })));
  await seeText(page, "bias-detection");
  await page.getByRole("button", { name: "Submit" }).click();
  const refusal = page.getByRole("alert");
  await refusal.filter({ hasText: "missing_field:nonce" }).waitFor();
  expect(await refusal.innerText()).toMatch(/field\s+metadata\.nonce\s+it has\s+nothing/);
  await expectFit(page, "a refused spec");
  expect((await client.call(JobService.method.listJobs, {})).jobs).toEqual([]);
  const mars = { regions: ["US", "Mars"] };
  await page.getByLabel("Signed JobSpec").fill(signer.signV1(specOf({ constraints: mars })));
  await page.getByRole("button", { name: "Submit" }).click();
  await refusal.filter({ hasText: "validation_error" }).waitFor();
  expect(await refusal.innerText()).toMatch(/field\s+constraints\.regions\[1\]\s+it has\s+Mars/);

  await enterAdminToken(page, authAdminToken);
  const metadata = stamp();
  const hostile = "<img src=x onerror=alert(1)>\u001b[31m";
  const spec = signer.signV1(specOf({ jobspec_id: hostile, metadata }));
  await page.getByLabel("Or its file").setInputFiles({
    name: "signed.json",
    mimeType: "application/json",
    buffer: Buffer.from(spec),
  });
  await seeText(page, metadata.nonce);
  await seeText(page, "<img src=x onerror=alert(1)>␛[31m");
  await page.getByRole("button", { name: "Verify first" }).click();
  await seeText(page, "The service would accept this spec");
  await expectFit(page, "a verified spec");
  await page.getByRole("button", { name: "Submit" }).click();

  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
  await seeBadge(page, "ended, complete");
  const id = page.url().slice(-36);
  const job = await jobOf(id);
  expect(job).toMatchObject({ status: Job_State.COMPLETED, jobspecId: hostile, document: spec });
  await page.reload();
  await seeText(page, "2 of 2 regions; it needs 1");
  await seeText(page, metadata.nonce);
  await seeText(page, job?.canonicalSha256 ?? "");
  await page.getByRole("heading", { name: "<img src=x onerror=alert(1)>␛[31m" }).waitFor();
  expect(await page.getByRole("group", { name: "the spec as submitted" }).innerText()).toContain('"What is 2 + 2?"');
  await page.getByText("Output").first().click();
  await page.getByRole("group", { name: "output of US" }).filter({ hasText: "responses" }).waitFor();
  await expectFit(page, "a job");
  await page.getByRole("link", { name: "Verify again" }).click();
  await expect.poll(() => page.getByLabel("Signed JobSpec").inputValue()).toBe(spec);
  await page.goBack();
  await page.getByRole("link", { name: "Receipt of US" }).click();
  await seeText(page, "The log is the one that was signed");
  // The browser itself reports the refused calls.
  expectCalm({ ...opened, complaints: opened.complaints.filter((each) => !each.includes("status of 400")) });
});

test("jobs are found by the state in the address and by keys, followed, and cancelled; another client sees none", async () => {
  const { service, provider, client, submit, jobOf, end } = await setStage();
  const done = await submit({ jobspec_id: "done-1" });
  await end(done);
  provider.respond(answer("four"), ...hanging);
  const constraints = { regions: ["US", "EU"], min_regions: 2 };
  const active = await submit({ jobspec_id: "long-2", constraints, questions: ["Why?"] });
  const opened = await openConsole(service.url, "runs", { viewport });
  const { page } = opened;
  await seeBadge(page, "live");
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
  await rows.filter({ hasText: "done-1" }).waitFor();
  await page.getByRole("heading", { name: "long-2" }).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "done-1" }).waitFor();
  expect(page.url()).toContain(done);
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "long-2" }).waitFor();
  expect(page.url()).toContain(active);

  await page.locator(".chip", { hasText: "failed" }).click();
  await rows.first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.locator(".chip", { hasText: "failed" }).click();
  await seeText(page, "No job of these is failed.");
  expect(new URL(page.url()).search).toBe("?state=failed");
  await page.reload();
  await seeText(page, "No job of these is failed.");
  await page.locator(".chip", { hasText: "completed" }).click();
  await rows.filter({ hasText: "done-1" }).waitFor();
  expect(await rows.count()).toBe(1);
  await seeText(page, "of all 2 jobs");
  await expectFit(page, "jobs");

  await page.goto(`${service.url}/console/jobs/${active}`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await seeText(page, "All runs of this job that have not ended are cancelled.");
  await expectFit(page, "the question before a cancellation");
  await page.getByRole("button", { name: "Leave it" }).click();
  expect((await jobOf(active))?.cancelRequestTime).toBeUndefined();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await seeBadge(page, "ended, complete");
  await page.getByRole("region", { name: "The job" }).getByText("cancelled").first().waitFor();
  expect((await jobOf(active))?.cancelRequestTime).toBeDefined();
  expectCalm(opened);

  const stranger = await openConsole(service.url, `jobs/${done}`, { client: "stranger" });
  await seeText(stranger.page, "Not found");
  expect(await stranger.page.content()).not.toContain("done-1");
  expect((await client.call(JobService.method.listJobs, {})).jobs.length).toBe(2);
});

test("the operator adds, limits and revokes a key, reads what happened, and rotates the receipt key", async () => {
  const { service, admin, client, submit } = await setStage();
  const opened = await openConsole(service.url, "jobs/keys", { viewport });
  const { page } = opened;
  await seeText(page, "Trust keys need the admin token");
  await expectFit(page, "trust keys without the token");
  await enterAdminToken(page, authAdminToken);
  await seeText(page, "This key is in the settings of the service");
  const keysOf = async () => (await admin.call(TrustService.method.listTrustedKeys, {})).keys;

  const pem = makePem();
  await page.getByRole("button", { name: "Add a key" }).click();
  await addKey(page, "portal-1", pem.privateKey);
  await seeText(page, "This is a private key.");
  await addKey(page, "portal-1", pem.publicKey);
  await seeText(page, "The service trusts portal-1 now.");
  await page.getByRole("heading", { name: "portal-1" }).waitFor();
  expect(await keysOf()).toMatchObject([{ kid: "test" }, { kid: "portal-1", publicKey: pem.base64, regions: [] }]);
  expect(new URL(page.url()).search).toBe("?key=portal-1");
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "test" }).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "portal-1" }).waitFor();

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Regions").fill("Mars");
  await page.getByRole("button", { name: "Save" }).click();
  await seeText(page, "invalid key.regions");
  await page.getByLabel("Regions").fill("EU, US");
  await page.getByLabel("Valid until").fill("2031-12-31T23:59");
  await expectFit(page, "the form of a key");
  await page.getByRole("button", { name: "Save" }).click();
  await seeText(page, "portal-1 is changed.");
  const [, changed] = await keysOf();
  expect(changed).toMatchObject({ regions: ["EU", "US"], clientIds: [] });
  expect(changed?.notAfter).toBeDefined();
  await expectFit(page, "trust keys");

  await page.getByRole("button", { name: "Revoke" }).click();
  await seeText(page, "A revocation is permanent.");
  await page.getByRole("button", { name: "Revoke it" }).click();
  await seeText(page, "portal-1 is revoked.");
  expect((await keysOf())[1]).toMatchObject({ status: TrustedKey_State.REVOKED });

  const refused = makeSigner();
  await submit({}, refused).catch(() => undefined);
  await page.getByRole("tab", { name: "Events" }).click();
  const events = page.getByRole("list", { name: "Trust events" }).getByRole("listitem");
  await events.first().filter({ hasText: "jobspec.refused" }).waitFor();
  await events.nth(1).filter({ hasText: "key.revoked" }).waitFor();
  await page.locator(".chip", { hasText: "key.updated" }).click();
  await page.getByRole("group", { name: "detail" }).filter({ hasText: '"after"' }).waitFor();
  expect(await events.count()).toBe(1);
  expect(new URL(page.url()).search).toBe("?tab=events&type=key.updated");
  await expectFit(page, "trust events");

  const published = async () => (await client.call(ReceiptService.method.getJwks, {})).keys.length;
  const before = await published();
  await page.getByRole("button", { name: "Rotate the receipt key" }).click();
  await page.getByRole("button", { name: "Rotate the key" }).click();
  await seeText(page, "The service signs receipts with");
  await expect.poll(published).toBe(before + 1);

  await page.getByRole("button", { name: "Credentials" }).click();
  await page.getByRole("button", { name: "Forget it now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await seeText(page, "Trust keys need the admin token");
  expect(await page.getByRole("main").innerHTML()).not.toContain("portal-1");
  expectCalm({ ...opened, complaints: opened.complaints.filter((each) => !each.includes("status of 400")) });
});

test("a job and the trust keys make pictures", async () => {
  const { service, provider, admin, client, submit, end } = await setStage();
  const asked = (name: string, regions: readonly string[], questions: readonly string[]) => ({
    jobspec_id: name,
    constraints: { regions, min_regions: regions.length },
    questions,
  });
  const capital = ["What is the capital of Australia?"];
  await end(await submit(asked("geography-2026-01", ["EU"], capital)));
  provider.respond(fail(400, '{"error":{"message":"context is too long"}}'));
  await end(await submit(asked("long-context-7", ["US"], capital)));
  provider.respond((wire) => wire.hang());
  const asking = provider.requests.length;
  const dropped = await submit(asked("bias-politics-3", ["APAC"], capital));
  await until("its question", () => provider.requests.length > asking);
  await client.call(JobService.method.cancelJob, { id: dropped });
  await end(dropped);
  const shown = await submit(asked("bias-gender-12", ["US", "EU", "CA"], [...capital, "Who wrote Frankenstein?"]));
  await end(shown);
  provider.respond(...hanging);
  await submit(asked("bias-age-4", ["EU"], capital));
  for (const [kid, regions] of [
    ["portal-eu", ["EU"]],
    ["portal-us", ["US", "CA"]],
    ["research-2025", []],
  ] as const) {
    const key = { kid, publicKey: makePem().base64, regions: [...regions] };
    await admin.call(TrustService.method.createTrustedKey, { key });
  }
  await admin.call(TrustService.method.revokeTrustedKey, { kid: "research-2025" });
  await takePicture(service.url, { name: "jobs", path: `jobs/${shown}`, text: "ended, complete" });
  const prepare = async (page: Page): Promise<void> => {
    await enterAdminToken(page, authAdminToken);
    await page.getByRole("button", { name: "Close message" }).click();
  };
  const keys = { name: "trust-keys", path: "jobs/keys?key=portal-us", text: "public key", prepare };
  await takePicture(service.url, keys);
});
