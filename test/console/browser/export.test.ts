// A run as a file, from its page: what the file has, and that hostile text in it stays text in any browser.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { newPage } from "../../external/browser.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const hostile =
  "</pre><script>document.title='owned'</script><img src='https://elsewhere.invalid/x.png' onerror=\"document.title='owned'\">\n# Not a heading\n```";
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function save(page: Page, format: string): Promise<{ name: string; text: string }> {
  await page.getByRole("button", { name: "Export" }).click();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("dialog").getByRole("button", { name: format }).click(),
  ]);
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), "utf8") };
}

test("a run is saved as Markdown, as a page without scripts and as JSON, and hostile text stays text", async () => {
  const { provider, service, client } = await setConsoleStage();
  const call = { id: "call-1", name: "list_dir", arguments: JSON.stringify({ path: hostile }) };
  provider.respond(callTools(call), answer(hostile));
  const agent = { name: "<script>document.title='owned'</script>", tools: { builtin: ["list_dir"] } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const { runId } = await client.call(SessionService.method.sendMessage, {
    sessionId,
    messages: [
      {
        role: "user",
        content: {
          case: "parts",
          value: {
            elements: [
              { type: "text", text: "Look." },
              { type: "image_base64", imageBase64: dot, fileName: '"><script>document.title="owned"</script>' },
            ],
          },
        },
      },
    ],
  });
  await endOfRun(client, runId);
  const opened = await openConsole(service.url, `runs/${runId}`, { viewport: { width: 1280, height: 800 } });
  await opened.page.locator("main .badge-text").filter({ hasText: "ended, complete" }).waitFor();
  await opened.page.getByRole("button", { name: "Export" }).click();
  await opened.page.getByRole("dialog").getByRole("button", { name: "Markdown" }).waitFor();
  await expectFit(opened.page, "the export of a run");
  await opened.page.keyboard.press("Escape");

  const html = await save(opened.page, "HTML page");
  expect(html.name).toBe(`run-${runId}.html`);
  const page = await newPage({ viewport: { width: 800, height: 600 } });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.setContent(html.text);
  expect(await page.title()).toBe(`Run ${runId}`);
  expect(await page.locator("script").count()).toBe(0);
  expect(await page.locator("pre.text").filter({ hasText: "Not a heading" }).first().textContent()).toBe(hostile);
  const images = page.locator("img");
  expect(await images.count()).toBe(1);
  await until("the image", async () => (await page.evaluate("document.images[0].naturalWidth")) === 1);
  expect(asked.filter((url) => !url.startsWith("data:"))).toEqual([]);
  await expectFit(page, "the page of a run");

  const markdown = await save(opened.page, "Markdown");
  const prose = markdown.text.replace(/^(`{3,})\n(?:.|\n)*?\n\1$/gm, "");
  expect(prose.split("\n").filter((line) => line.startsWith("# "))).toEqual([`# Run ${runId}`]);
  expect(markdown.text).toContain("> # Not a heading");
  const json = await save(opened.page, "JSON");
  const { run_id: id } = JSON.parse(json.text).run;
  expect(id).toBe(runId);
  expect(JSON.parse(json.text).results.at(-1)).toHaveProperty("run_completed");
  expectCalm(opened);
});
