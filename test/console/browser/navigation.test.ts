// The navigation: what everyone uses, and the rest behind More.

import { expect, test } from "vitest";
import { startService } from "../../harness/service.ts";
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
    expect(help).toContain(title.toLowerCase());
  }
  await page.goto(`${service.url}/console/exchanges`);
  await page.locator('nav [aria-current="page"]', { hasText: "Exchanges" }).waitFor();
  expectCalm(opened);
});
