// Every page of the console, read from its router, so that a new one cannot be forgotten.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { repositoryRoot } from "../../../scripts/run-command.ts";

/** The same pages with another part of them open. */
const parts = [
  "/runs?words=avocet",
  "/runs?state=failed&from=2026-01-01T00:00:00.000Z",
  "/runs/:runId?tab=waterfall",
  "/runs/:runId?tab=entries&seq=1",
  "/runs/:runId?tab=calls",
  "/runs/:runId?tab=tree",
  "/compare?a=:runId&b=:otherId",
  "/evaluate?runs=:runId",
  "/new?from=:runId",
  "/plots?by=agent",
  "/signatures?tab=request",
  "/service?tab=settings",
  "/service?tab=keys",
  "/jobs/keys?tab=events",
];

/** Returns the paths of the router, such as `/runs/:runId`, and those of the parts. */
export function readPaths(): readonly string[] {
  const files = globSync(["console/src/views.ts", "console/src/*/views.ts"], { cwd: repositoryRoot });
  const paths = files
    .map((file) => readFileSync(join(repositoryRoot, file), "utf8"))
    .flatMap((text) => [...text.matchAll(/\bpath: "([^"]+)"/g)].map(([, path = ""]) => path.replace("/*?", "")));
  return [...new Set([...paths, ...parts])];
}

/** Puts ids in place of the names, such as `:runId`. An unknown name is an error: the stage needs such a thing. */
export function addressOf(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z]\w*)/gi, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) {
      throw new Error(`${path} needs a ${name}: add one to the stage of this test`);
    }
    return encodeURIComponent(id);
  });
}

/** Follows a link of the page itself, which keeps the admin token, and waits for the code of the view. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/console${address}`)})`);
  await page.locator("main:not(:has-text('Loading this view'))").waitFor();
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}
