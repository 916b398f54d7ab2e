// The navigation: what everyone uses, and the rest behind More.

import { expect, test } from "vitest";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole } from "./console-page.ts";

const usual = ["Runs", "Sessions", "New run", "Approvals", "Queue", "Memory", "Runners", "Callbacks", "Plots", "Usage"];
const folded = ["Exchanges", "Jobs", "Signatures", "Forum", "Service"];

test("views of the operator and of few people are behind More, and stay reachable by key and address", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  const links = page.getByRole("navigation", { name: "Views" }).getByRole("link");
  await links.first().waitFor();
  expect(await links.allTextContents()).toEqual(usual);
  const more = page.getByRole("button", { name: "More", exact: true });
  await more.focus();
  await page.keyboard.press("Enter");
  await links.nth(usual.length).waitFor();
  expect(await links.allTextContents()).toEqual([...usual, ...folded]);
  await expectFit(page, "the open navigation");
  await page.keyboard.press("Enter");
  await links.nth(usual.length).waitFor({ state: "detached" });

  // The view that is shown has its link.
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.locator('nav [aria-current="page"]', { hasText: "Jobs" }).waitFor();
  expect(await links.allTextContents()).toEqual([...usual, "Jobs"]);
  await page.keyboard.press("?");
  const help = await page.getByRole("dialog", { name: "Help" }).innerText();
  for (const title of folded) {
    expect(help).toContain(title);
  }
  await page.goto(`${service.url}/console/exchanges`);
  await page.locator('nav [aria-current="page"]', { hasText: "Exchanges" }).waitFor();
  const seeLink = async (path: string, title: string): Promise<void> => {
    await page.goto(`${service.url}/console/${path}`);
    await until(`the link of ${path}`, async () => {
      return String(await page.locator('nav [aria-current="page"]').allTextContents()) === title;
    });
  };
  await seeLink("compare", "Runs");
  await seeLink("evaluate", "Runs");
  await seeLink("new-session", "Sessions");
  await seeLink("new", "New run");
  expectCalm(opened);
  // The service answers 404, which the page shows.
  await seeLink("evaluations/none", "Runs");
});

test("on a phone the link of the view is in sight, and the line of links fades where it has more", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const opened = await openConsole(service.url, "runs", { viewport: { width: 390, height: 844 } });
  const { page } = opened;
  const nav = page.getByRole("navigation", { name: "Views" });
  const isFadedAt = async (side: "before" | "after"): Promise<boolean> =>
    (await page.evaluate(`getComputedStyle(document.querySelector("nav")).getPropertyValue("--more-${side}")`)) !==
    "0px";
  const link = (title: string) => nav.locator('[aria-current="page"]', { hasText: title });
  await link("Runs").waitFor();
  expect([await isFadedAt("before"), await isFadedAt("after")]).toEqual([false, true]);
  await page.goto(`${service.url}/console/service`);
  await link("Service").waitFor();
  const box = await link("Service").boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
  expect([await isFadedAt("before"), await isFadedAt("after")]).toEqual([true, false]);
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await link("Plots").waitFor();
  const plots = await link("Plots").boundingBox();
  expect(plots?.x).toBeGreaterThanOrEqual(0);
  expect((plots?.x ?? 0) + (plots?.width ?? 0)).toBeLessThanOrEqual(390);
  expectCalm(opened);
});
