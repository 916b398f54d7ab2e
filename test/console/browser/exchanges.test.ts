// A person carries a task through a chat window, with the console as the desk.

import { expect, test } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

const poem = '[CREATE_FILE path="poem.txt"]\nThe board between them will not stay.\n[/CREATE_FILE]';
const done = "[DONE]\nThe poem is in poem.txt.\n[/DONE]";

test("a task is started, copied out, answered after a preview, and done", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const opened = await openConsole(service.url, "exchanges", {
    viewport: { width: 1280, height: 800 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = opened;
  await seeText(page, "No exchanges yet");
  await expectFit(page, "no exchanges");
  await page.getByLabel("Task").fill("Write a poem about <b>copy</b> and paste.");
  await page.getByRole("button", { name: "Start the exchange" }).click();
  await seeText(page, "1. Copy outbox 1 into a chat window");
  const exchangeId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { text: outbox } = await client.call(ExchangeService.method.getOutbox, { exchangeId });
  expect(await page.getByRole("textbox", { name: "Outbox" }).inputValue()).toBe(outbox);
  await page.getByRole("button", { name: "Copy" }).click();
  await seeText(page, "Copied");
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(outbox);

  const submit = page.getByRole("button", { name: "Submit" });
  expect(await submit.isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: "Answer" }).fill(`Here it is.\n${poem}\n[EDIT_FILE path="poem.txt"]\n`);
  await seeText(page, "Would execute 1, and not 1 with errors:");
  await seeText(page, "EDIT_FILE missing required attributes");
  await expectFit(page, "a preview");
  await page.getByRole("textbox", { name: "Answer" }).fill(poem);
  await seeText(page, "Would execute 1:");
  await submit.click();
  await seeText(page, "2. Paste the answer to outbox 2");
  await seeText(page, "Created 'poem.txt'");
  await expectFit(page, "results");

  await page.reload();
  await seeText(page, "Created 'poem.txt'");
  await page.getByRole("textbox", { name: "Answer" }).fill(done);
  await submit.click();
  await page.getByRole("heading", { name: exchangeId }).waitFor();
  await page.locator(".view-head .state", { hasText: "completed" }).waitFor();
  await page.getByRole("link", { name: "Exchanges" }).last().click();
  await page.getByRole("listitem").filter({ hasText: "Write a poem about <b>copy</b> and paste." }).waitFor();
  await expectFit(page, "the list");
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: exchangeId }).waitFor();
  expectCalm(opened);
});

test("an answer to an outbox that another answer has had is refused, and the newest outbox is shown", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const { exchangeId } = await client.call(ExchangeService.method.startExchange, { task: "Write a poem." });
  const { page } = await openConsole(service.url, `exchanges/${exchangeId}`);
  await seeText(page, "1. Copy outbox 1");
  await page.getByRole("textbox", { name: "Answer" }).fill(poem);
  await seeText(page, "Would execute 1:");
  await client.call(ExchangeService.method.submitInbox, { exchangeId, text: poem.replace("poem", "other") });
  await seeText(page, "1. Copy outbox 2");
  await seeText(page, "2. Paste the answer to outbox 1");
  await page.getByRole("button", { name: "Submit" }).click();
  await seeText(page, "Nothing was executed:");
  await page.getByRole("button", { name: "Show the newest outbox" }).click();
  await seeText(page, "Created 'other.txt'");
  await seeText(page, "2. Paste the answer to outbox 2");
});
