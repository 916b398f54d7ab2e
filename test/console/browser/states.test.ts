// Every view of the console in every state: nothing that axe finds, and no more width than the screen has. States have both themes in
// turn, and one of them has both.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startService } from "../../harness/service.ts";
import { expectAccessible, expectWidth, type Themes } from "./checks.ts";
import { enterAdminToken, openConsole } from "./console-page.ts";
import { setFullStage } from "./full-stage.ts";
import { addressOf, goTo, readPaths } from "./pages.ts";

const authAdminToken = "the-admin-token-of-these-tests";
/** They take turns. */
const widths = [1440, 390];
const unknown = "0199aaaa-0000-7000-8000-000000000000";
/** An id for every name in a path: nothing has it. */
const noIds = new Proxy<Record<string, string>>(
  {},
  { get: (_, name) => (name === "runnerId" ? "plugin:a/b/c" : unknown) },
);
const calls = /\/runnel\.[\w.]+\/\w+$/;
/** These show a form, and need no call for it. */
const forms: readonly string[] = ["/compare", "/evaluate", "/evaluate?runs=:runId", "/new", "/jobs/submit"];
const signatures: readonly string[] = ["/signatures", "/signatures?tab=request"];

/** Visits every page in these themes, and calls `check` in each. */
async function visitAll(
  page: Page,
  themes: Themes,
  ids: Readonly<Record<string, string>>,
  check: (path: string) => Promise<void>,
) {
  for (const [index, path] of readPaths().entries()) {
    const width = widths[index % widths.length] ?? 0;
    await page.setViewportSize({ width, height: 844 });
    await goTo(page, addressOf(path, ids));
    await check(path);
    await expectWidth(page, path, width);
    await expectAccessible(page, path, { themes });
  }
}

async function openAsOperator(url: string): Promise<Page> {
  const { page } = await openConsole(url, "nowhere");
  await enterAdminToken(page, authAdminToken);
  return page;
}

async function startEmpty(): Promise<string> {
  return (await startService({ consoleEnabled: true, rateLimitRps: 0, authAdminToken })).url;
}

test("each view is accessible with nothing in it", { timeout: 400_000 }, async () => {
  const page = await openAsOperator(await startEmpty());
  await visitAll(page, ["dark"], noIds, () => page.locator("main :is(h1, [role=alert])").first().waitFor());
});

test("each view is accessible while it waits for its answers", { timeout: 400_000 }, async () => {
  const { page } = await openConsole(await startEmpty(), "nowhere");
  // No call is answered.
  await page.route(calls, () => undefined);
  await page.reload();
  await enterAdminToken(page, authAdminToken);
  const quiet = [...forms, ...signatures, "/new-session"];
  await visitAll(page, ["light"], noIds, (path) =>
    page
      .locator(quiet.includes(path) ? "main h1" : "main .loading[role=status]")
      .first()
      .waitFor(),
  );
});

test("each view is accessible when its calls fail", { timeout: 400_000 }, async () => {
  const { page } = await openConsole(await startEmpty(), "nowhere");
  const body = JSON.stringify({ code: "internal", message: "the disk is full" });
  await page.route(calls, (route) => route.fulfill({ status: 500, contentType: "application/json", body }));
  await page.reload();
  await enterAdminToken(page, authAdminToken);
  const quiet = [...forms, ...signatures];
  await visitAll(page, ["dark"], noIds, (path) =>
    page
      .locator(quiet.includes(path) ? "main h1" : "main [role=alert]")
      .first()
      .waitFor(),
  );
});

test.each<[what: string, text: string, themes: Themes]>([
  ["huge", `${"unbroken".repeat(40)} ${"many words ".repeat(5_000)}`, ["light"]],
  [
    "right-to-left and hostile",
    "مرحبا بالعالم، هذه رسالة (hello) طويلة <img src=x onerror=\"document.title='owned'\">\u202e\u001b[31m [a](javascript:alert(1))",
    ["dark", "light"],
  ],
])("each view is accessible with %s texts, and shows them as texts", { timeout: 400_000 }, async (_, text, themes) => {
  const { service, ids } = await setFullStage(text, authAdminToken);
  const page = await openAsOperator(service.url);
  await visitAll(page, themes, ids, async () => {
    await page.locator("main h1").first().waitFor();
    await page.locator("main:not(:has(.loading[role=status]))").waitFor();
    expect(await page.locator("main img[src=x]").count()).toBe(0);
  });
  expect(await page.title()).not.toBe("owned");
});
