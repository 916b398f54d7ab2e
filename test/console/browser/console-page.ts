// The console in headless Chromium, with everything that it complains about or asks of other hosts.

import type { BrowserContextOptions, Page, Request } from "playwright-core";
import { expect } from "vitest";
import { newPage } from "../../external/browser.ts";
import { keyOf } from "../../harness/credentials.ts";

/** A view appears within a second; a busy machine runs a service, a browser and three test files on two cores. */
const waitMaxMs = 90_000;

/** A page of the console. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors and warnings of the page's console, its uncaught errors, and reports of the content security policy. */
  readonly complaints: string[];
  /** Everything that the page has requested. */
  readonly requests: Request[];
  /** Requests to other origins than the service. */
  readonly foreign: string[];
}

export interface ConsoleOptions extends BrowserContextOptions {
  /** The client whose key the page has; null opens it without a key. */
  readonly client?: string | null;
}

/** Opens the console of a service at a path such as `runs`. */
export async function openConsole(
  url: string,
  path = "",
  { client, ...options }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const page = await newPage({ reducedMotion: "reduce", ...options });
  page.setDefaultTimeout(waitMaxMs);
  const opened: ConsolePage = { page, complaints: [], requests: [], foreign: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      opened.complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => opened.complaints.push(String(error)));
  page.on("request", (request) => {
    opened.requests.push(request);
    const asked = new URL(request.url());
    // The last two are the browser's own: its viewer of PDFs.
    const isInside = ["data:", "blob:", "chrome:", "chrome-extension:"].includes(asked.protocol);
    if (asked.origin !== url && !isInside) {
      opened.foreign.push(request.url());
    }
  });
  if (client !== null) {
    // As if a person had entered it in each tab.
    // The browser's viewer of PDFs is a frame without a storage.
    await page.context().addInitScript((key) => sessionStorage?.setItem("runnel.api-key", key), keyOf(client));
  }
  await page.goto(`${url}/console/${path}`);
  // The page of runs waits a moment for its list before it renders, and hears no key until then.
  await page.locator("#console:empty").waitFor({ state: "detached" });
  return opened;
}

/** Fails when the page has complained, or has asked another origin. */
export function expectCalm({ complaints, foreign }: ConsolePage): void {
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
}

/** Waits until an element with this text is visible. */
export async function seeText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Returns the text of the badge of the view's stream. */
export async function badgeOf(page: Page): Promise<string> {
  return (await page.locator("main .badge-text").first().textContent()) ?? "";
}

/** Waits until the badge of the view's stream matches. */
export async function seeBadge(page: Page, text: string | RegExp): Promise<void> {
  await page.locator("main .badge-text").filter({ hasText: text }).first().waitFor();
}

/** Gives the page the operator's token, which it forgets when it is loaded again. */
export async function enterAdminToken(page: Page, token: string): Promise<void> {
  await page.getByRole("button", { name: "Credentials" }).click();
  // The view behind the dialog may ask for it too.
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Admin token, for the operator's views").fill(token);
  await dialog.getByRole("button", { name: "Use for 15 minutes" }).click();
  await dialog.getByRole("button", { name: "Close" }).click();
}

/** A headless browser shows every page, so the test says otherwise. */
export async function setVisibility(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"))`);
}
