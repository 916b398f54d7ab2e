// A person decides in the console what a run may do: in the inbox, and in the run itself.

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const write = (path: string, content = "new"): Script =>
  callTools({ id: "one", name: "write_file", arguments: JSON.stringify({ file_path: path, content }) });

async function setStage() {
  const stage = await setConsoleStage();
  const { provider, client, start } = stage;
  const ask = async (...scripts: readonly Script[]) => await askAs("careful", ...scripts);
  const askAs = async (name: string, ...scripts: readonly Script[]): Promise<{ runId: string; approvalId: string }> => {
    provider.respond(...scripts);
    const tools = { builtin: ["write_file"], approve: ["write_file"] };
    const runId = await start({ name, tools }, { message: "Write it." });
    const approvalId = await until("the approval", async () => {
      const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId });
      return approvals[0]?.approvalId;
    });
    return { runId, approvalId };
  };
  return { ...stage, ask, askAs };
}

test("an approval appears by itself with a count, is read in full, approved with a comment, and the run ends", async () => {
  const { provider, service, client, ask } = await setStage();
  const opened = await openConsole(service.url, "approvals", { viewport: { width: 1280, height: 800 } });
  const { page } = opened;
  await seeText(page, "Nothing waits for you");
  await seeBadge(page, "live");
  await expectFit(page, "empty inbox");
  const first = await ask(write("notes.txt", "Large: 12345678901234567890"), answer("Written."));
  await page.getByRole("navigation").getByText("1 waiting").waitFor();
  await page.waitForFunction('document.title === "(1) Approvals · Runnel"');
  await seeText(page, "expires in 23h 59m");
  const request = page.getByRole("group", { name: "the whole request" });
  expect(await request.innerText()).toContain('"content": "Large: 12345678901234567890"');
  const { approval } = await client.call(ApprovalService.method.getApproval, { approvalId: first.approvalId });
  await seeText(page, approval?.digest ?? "");
  await expectFit(page, "inbox");
  await page.getByLabel("Comment").fill("Only this file.");
  await page.getByRole("button", { name: "Approve" }).click();
  await seeText(page, "Approved. The run continues.");
  await seeText(page, /Decided by .*The approval was used/);
  await page.getByRole("listitem").filter({ hasText: "used" }).waitFor();
  await page.waitForFunction('document.title === "Approvals · Runnel"');
  expect(await page.getByRole("blockquote").innerText()).toBe("Only this file.");

  await page.goto(`${service.url}/console/approvals/${first.approvalId}`);
  await seeText(page, "Only this file.");
  await page.reload();
  await seeText(page, "Only this file.");
  await page.getByRole("link", { name: /^run / }).last().click();
  await seeText(page, "Written.");
  expect(provider.requests.length).toBe(2);
  expectCalm(opened);
});

test("the approval is decided in the run that waits, and the model reads why it was rejected", async () => {
  const { provider, service, ask } = await setStage();
  const { runId } = await ask(write("secret.txt"), answer("Then not."));
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  await seeText(page, "Approval asked: write_file");
  await page.getByLabel("Comment").fill("Not in this folder.");
  await expectFit(page, "a run that waits");
  await page.getByRole("button", { name: "Reject" }).click();
  await seeText(page, "Then not.");
  await page.locator(".outcome", { hasText: "rejected" }).waitFor();
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("Not in this folder.");
  expectCalm(opened);
});

test("a request that is no longer the one on the page is shown again and not decided", async () => {
  const { service, ask } = await setStage();
  const { approvalId } = await ask(write("one.txt"), answer("Written."));
  const { page } = await openConsole(service.url, `approvals/${approvalId}`);
  await page.getByLabel("Comment").fill("For the request that I have read.");
  const changed = '{"action":"write_file","payload":{"file_path":"other.txt","content":"x"}}';
  const digest = createHash("sha256").update(changed).digest("hex");
  await query(
    service.databaseUrl,
    `update approval set request = '${changed}', digest = '${digest}' where id = '${approvalId}'`,
  );
  await page.getByRole("button", { name: "Approve" }).click();
  await seeText(page, "Nothing was decided");
  await seeText(page, digest);
  expect(await page.getByRole("group", { name: "the whole request" }).innerText()).toContain("other.txt");
  expect(await page.getByLabel("Comment").inputValue()).toBe("");
  await page.getByRole("button", { name: "Approve" }).waitFor();
});

test("what is shown stays below the pointer when a newer approval arrives, and when it is decided", async () => {
  const { service, ask } = await setStage();
  await ask(write("one.txt"));
  const { page } = await openConsole(service.url, "approvals", { viewport: { width: 1280, height: 800 } });
  const request = page.getByRole("group", { name: "the whole request" });
  await request.filter({ hasText: "one.txt" }).waitFor();
  await ask(write("two.txt"), answer("Written."));
  await page.getByRole("navigation").getByText("2 waiting").waitFor();
  expect(await request.innerText()).toContain("one.txt");
  await page.getByRole("button", { name: "Approve" }).click();
  await seeText(page, /Decided by /);
  expect(await request.innerText()).toContain("one.txt");
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
});

test("keys move through the inbox, and another client sees nothing of it", async () => {
  const { service, ask } = await setStage();
  const first = await ask(write("one.txt"));
  const second = await ask(write("two.txt"));
  const { page } = await openConsole(service.url, "runs", { viewport: { width: 1280, height: 800 } });
  await page.getByRole("navigation").getByText("2 waiting").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await seeText(page, "two.txt");
  await page.keyboard.press("j");
  await seeText(page, "one.txt");
  expect(page.url()).toContain(first.approvalId);
  await page.keyboard.press("k");
  await seeText(page, "two.txt");
  expect(page.url()).toContain(second.approvalId);

  const other = await openConsole(service.url, `approvals/${first.approvalId}`, { client: "stranger" });
  await seeText(other.page, "Not found");
  expect(await other.page.content()).not.toContain("one.txt");
});

test("a filter and one decision about several, each with its digest, which is shown before", async () => {
  const { provider, service, client, ask, askAs } = await setStage();
  const others = await ask(write("other.txt"));
  const first = await askAs("editor", write("one.txt"));
  const second = await askAs("editor", write("two.txt"));
  const third = await askAs("editor", write("three.txt"));
  const opened = await openConsole(service.url, "approvals", { viewport: { width: 1280, height: 800 } });
  const { page } = opened;
  await seeText(page, "4 waiting for a decision");
  await page.getByLabel("Agent").selectOption("editor");
  await page.getByLabel("Age", { exact: true }).selectOption("asked in the last hour");
  await seeText(page, "3 waiting for a decision");
  expect(await page.getByRole("list", { name: "Approvals" }).innerText()).not.toContain("other.txt");
  await page.reload();
  await seeText(page, "3 waiting for a decision");
  await expectFit(page, "filtered approvals");

  await page.getByRole("button", { name: "Decide about 3 …" }).click();
  const dialog = page.getByRole("dialog");
  const rows = dialog.getByRole("list", { name: "What is decided" }).getByRole("listitem");
  const { approval } = await client.call(ApprovalService.method.getApproval, { approvalId: first.approvalId });
  await rows
    .filter({ hasText: "one.txt" })
    .filter({ hasText: approval?.digest ?? "" })
    .waitFor();
  await rows.filter({ hasText: "one.txt" }).getByText("The whole request").click();
  await rows.filter({ hasText: '"file_path": "one.txt"' }).waitFor();
  await expectFit(page, "one decision about several");
  // A request that has changed since the list was shown is not decided.
  await query(service.databaseUrl, `update approval set digest = repeat('0', 64) where id = '${second.approvalId}'`);
  await rows.filter({ hasText: "three.txt" }).getByRole("checkbox").uncheck();
  await dialog.getByLabel("Comment for models").fill("Read both.");
  provider.respond(answer("Written."));
  await dialog.getByRole("button", { name: "Approve 2" }).click();
  await rows.filter({ hasText: "two.txt" }).filter({ hasText: "Not decided" }).waitFor();
  await expect.poll(() => rows.count()).toBe(1);
  await page.keyboard.press("Escape");
  await page.getByLabel("Agent").selectOption("any agent");
  await page.getByRole("list", { name: "Approvals" }).filter({ hasText: "other.txt" }).waitFor();
  const stateOf = async (approvalId: string) =>
    (await client.call(ApprovalService.method.getApproval, { approvalId })).approval;
  expect(await stateOf(first.approvalId)).toMatchObject({ decision: Approval_Decision.APPROVE, comment: "Read both." });
  for (const { approvalId } of [others, second, third]) {
    expect(await stateOf(approvalId)).toMatchObject({ state: Approval_State.PENDING });
  }
});
