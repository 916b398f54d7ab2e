// The pictures of the documentation, made by the tests of the views. `npm run screenshots` writes them to docs/images; every other
// run only takes them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { type ConsoleOptions, openConsole, seeText } from "./console-page.ts";

const bytesMax = 150_000;

export interface Picture {
  /** The file is `console-<name>-light.png`, and the same with `dark`. */
  readonly name: string;
  readonly path: string;
  /** What the view shows when it is complete. */
  readonly text: string | RegExp;
  /** What a person does before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** Takes the picture of a view in light and in dark. */
export async function takePicture(
  url: string,
  { name, path, text, prepare }: Picture,
  options: ConsoleOptions = {},
): Promise<void> {
  const viewport = { width: 1280, height: 800 };
  const { page } = await openConsole(url, path, { viewport, ...options });
  await prepare?.(page);
  await seeText(page, text);
  // The explorer and the page of a shared run have no frame with the state of the service.
  if ((await page.locator(".service").count()) > 0) {
    await page.locator(".service", { hasText: "service ready" }).waitFor();
  }
  // A stream that is new says so for a moment.
  await page
    .locator(".badge-text", { hasText: /^(connecting|catching up)/ })
    .first()
    .waitFor({ state: "detached" });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const picture = await page.screenshot({ animations: "disabled" });
    expect(picture.length).toBeLessThan(bytesMax);
    if (process.env.SCREENSHOTS === "write") {
      writeFileSync(join(repositoryRoot, `docs/images/console-${name}-${colorScheme}.png`), picture);
    }
  }
  await page.context().close();
}
