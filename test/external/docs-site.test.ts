// The site of the documentation, made by its command and served by it, in Chromium: it searches, has a dark theme, copies code, leads to
// every row of the API, and asks no other host for anything.

import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { checkSite } from "../../scripts/docs/check-site.ts";
import { readVersion } from "../../scripts/release.ts";
import { repositoryRoot, runCommand } from "../../scripts/run-command.ts";
import { openFolder } from "../fixtures.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { newPage } from "./browser.ts";
import { startProgram } from "./program.ts";

/** npm may download the generator first. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 });

const script = join(repositoryRoot, "scripts/docs.ts");
const site = join(repositoryRoot, "site/dist");

beforeAll(() => runCommand(process.execPath, [script]));

/** Serves the site, and opens its first page. Fails the test that saw an error, or a request to another host. */
async function openSite(): Promise<Page> {
  const [port = 0] = await findFreePorts(1);
  const origin = `http://localhost:${port}`;
  const preview = startProgram(process.execPath, [script, "preview", "--port", `${port}`], {
    environment: { FORCE_COLOR: "0" },
  });
  await until("the preview to serve", () => preview.stdout().includes(origin), 60_000);
  const page = await newPage({ baseURL: origin, permissions: ["clipboard-read", "clipboard-write"] });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
      faults.push(`a request to ${request.url()}`);
    }
  });
  onTestFinished(() => expect(faults).toEqual([]));
  await page.goto("/");
  await page.getByRole("button", { name: "Search" }).waitFor();
  return page;
}

test("its search finds a word and leads to the page", async () => {
  const page = await openSite();
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("PgBouncer");
  await page.getByRole("option").first().click();
  await page.waitForURL(/\/docs\/.*\.html/);
  await page.locator("main").getByText("PgBouncer").first().waitFor();
});

test("its theme turns dark and stays so on the next page", async () => {
  const page = await openSite();
  const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const light = await background();
  await page.getByRole("switch", { name: /dark/i }).first().click();
  await until("another background", async () => (await background()) !== light);
  const dark = await background();
  await page.goto("/docs/concepts.html");
  expect(await background()).toBe(dark);
});

test("it names the version, copies code, and leads to the source of a page", async () => {
  const page = await openSite();
  await page.getByRole("link", { name: `Version ${await readVersion()}` }).waitFor();
  await page.getByRole("link", { name: "Python", exact: true }).first().click();
  await page.waitForURL(/\/docs\/call\/python\.html/);
  const block = page.locator("div[class*=language-]").first();
  await block.hover();
  await block.getByRole("button").click();
  const copied = () => page.evaluate("navigator.clipboard.readText()");
  const code = await block.locator("code").innerText();
  await until("the code to be copied", async () => (await copied()) === code);
  const edit = await page.getByRole("link", { name: "Edit this page" }).getAttribute("href");
  expect(edit).toBe("https://github.com/runnel/runnel/edit/main/docs/call/python.md");
});

test("each RPC has an anchor, and links to source files lead to the repository", async () => {
  const page = await openSite();
  await page.goto("/docs/reference/rpcs.html#SessionService.SendMessage");
  const row = page.locator('[id="SessionService.SendMessage"]');
  const { height } = page.viewportSize() ?? expect.unreachable();
  await until("the row to be in view", async () => ((await row.boundingBox())?.y ?? height) < height);
  const source = page.getByRole("link", { name: "runnel/v1/session_service.proto" });
  const url = "https://github.com/runnel/runnel/blob/main/proto/runnel/v1/session_service.proto";
  expect(await source.getAttribute("href")).toBe(url);
});

test("llms.txt lists pages that the site serves as Markdown", async () => {
  const page = await openSite();
  const list = await (await page.request.get("/llms.txt")).text();
  expect(list).toMatch(/^# Runnel\n\n> Runnel is .+\n/);
  const paths = [...list.matchAll(/^- \[.+?\]\((.+?)\): .+$/gm)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(40);
  const answers = await Promise.all(paths.map((path) => page.request.get(path)));
  expect(answers.filter((answer) => !answer.ok()).map((answer) => answer.url())).toEqual([]);
  const whole = await (await page.request.get("/llms-full.txt")).text();
  expect(whole).toContain("# Follow a run, and go on after a break");
});

test.each([
  ['<a href="/docs/gone.html">', "concepts.html links /docs/gone.html"],
  ['<a href="./models.html#gone">', "concepts.html links ./models.html#gone"],
])("the check refuses a page with %s", async (link, fault) => {
  const copy = await openFolder();
  await cp(site, copy, { recursive: true });
  const path = join(copy, "docs/concepts.html");
  await writeFile(path, `${await readFile(path, "utf8")}${link}`);
  expect(() => checkSite(copy)).toThrow(fault);
});
