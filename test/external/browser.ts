// Headless Chromium: the system's, or the program in CHROMIUM.

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { PageReading } from "./page-reader.ts";

/** Opens a page at the URL, whose script has run and set its object under this name. Closed with the test. */
export async function openPage(
  url: string,
  script: "pageReader" | "pageSigner" | "pageFollower" = "pageReader",
): Promise<Page> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  await access(executablePath, constants.X_OK).catch((cause: unknown) => {
    const fix = "run `apt-get install -y chromium`, or set CHROMIUM to the program";
    throw new Error(`Chromium is not at ${executablePath}: ${fix}`, { cause });
  });
  const browser = await chromium.launch({ executablePath });
  onTestFinished(() => browser.close());
  // Tests use certificates of an unknown authority.
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
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
