// Headless Chromium: the system's, or the program in CHROMIUM. One process for all tests of a file; each page has a context of its own.

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { afterEachFile } from "../harness/pool.ts";
import type { PageReading } from "./page-reader.ts";

let browser: Promise<Browser> | undefined;

// A launch takes more than a second of CPU.
afterEachFile(async () => {
  const open = browser;
  browser = undefined;
  await (await open)?.close();
});

/** Opens an empty page in a context of its own, with cookies, storage and connections of its own. Both close with the test. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launch();
  const context = await (await browser).newContext(options);
  onTestFinished(() => context.close());
  return await context.newPage();
}

async function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  await access(executablePath, constants.X_OK).catch((cause: unknown) => {
    const fix = "run `apt-get install -y chromium`, or set CHROMIUM to the program";
    throw new Error(`Chromium is not at ${executablePath}: ${fix}`, { cause });
  });
  return await chromium.launch({ executablePath });
}

/** Opens a page at the URL, whose script has run and set its object under this name. Closed with the test. */
export async function openPage(
  url: string,
  script: "pageReader" | "pageSigner" | "pageFollower" = "pageReader",
): Promise<Page> {
  // Tests use certificates of an unknown authority.
  const page = await newPage({ ignoreHTTPSErrors: true });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  if (!(await page.evaluate((name) => name in globalThis, script))) {
    throw new Error(`the page's script did not run: ${complaints.join("; ")}`);
  }
  return page;
}

export async function readPage(page: Page, name: string): Promise<PageReading> {
  return await page.evaluate((reader) => globalThis.pageReader.read(reader), name);
}
