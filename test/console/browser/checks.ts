// What every view must keep: no violation of WCAG in either theme, and no more width than the screen has.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const nextFrame = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
const every = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] } as const;
/** All rules that look at colours: no other rule depends on the theme. */
const ofColours = { type: "rule", values: ["color-contrast", "link-in-text-block"] } as const;
type Rules = typeof every | typeof ofColours;

/** Returns what axe finds, by rule, with the elements. */
async function findViolations(
  page: Page,
  rules: Rules,
): Promise<readonly (readonly [rule: string, elements: readonly string[]])[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) {
    await page.evaluate(axe);
  }
  return await page.evaluate(async (runOnly) => {
    const { axe: run } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await run.run({ runOnly });
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))] as const);
  }, rules);
}

/** The widths of a 4K screen, of a small phone, and of 1280 pixels at a zoom of 400 %. */
const widthsPx = [3840, 360, 320];

/**
 * Checks the view as it is shown in both themes, on a very wide screen and on narrow ones, and leaves the page as it was. `known`
 * has the rules that code of others breaks.
 */
export async function expectFit(page: Page, what: string, known: readonly string[] = []): Promise<void> {
  const size = page.viewportSize();
  await expectAccessible(page, what, { known });
  for (const width of widthsPx) {
    await page.setViewportSize({ width, height: 740 });
    await expectWidth(page, what, width);
  }
  // The narrowest screen has the most that others have not: folded menus and tables.
  expect(await findLasting(page, every, known), `${what}, narrow`).toEqual([]);
  if (size !== null) {
    await page.setViewportSize(size);
  }
}

/** The themes in which a view is checked: in the first one by every rule, in others by those of colours. */
export type Themes = readonly ("dark" | "light")[];

/** Checks the view as it is shown. */
export async function expectAccessible(
  page: Page,
  what: string,
  { themes = ["dark", "light"], known = [] }: { readonly themes?: Themes; readonly known?: readonly string[] } = {},
): Promise<void> {
  for (const [index, colorScheme] of themes.entries()) {
    // Without motion, colours are those of the theme at once.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // The colours are those of the theme from the next frame on.
    await page.evaluate(nextFrame);
    expect(await findLasting(page, index === 0 ? every : ofColours, known), `${what}, ${colorScheme}`).toEqual([]);
  }
}

/** Cells whose words are broken into letters. A row of an icon alone may be as narrow. */
const brokenCells = `[...document.querySelectorAll("main tbody :is(th, td)")]
  .filter(({ clientWidth, textContent }) => clientWidth > 0 && clientWidth < 32 && textContent.length > 4)
  .map(({ outerHTML }) => outerHTML.slice(0, 200))`;

/** Checks that neither the page nor its view scrolls to the side, and that no table breaks its words to fit. */
export async function expectWidth(page: Page, what: string, width: number): Promise<void> {
  // Views that ask for the width of the screen render again in the next frame.
  await page.evaluate(nextFrame);
  const widest = 'Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth)';
  expect(await page.evaluate(widest), `${what}, ${width} px`).toBeLessThanOrEqual(width);
  expect(await page.evaluate(brokenCells), `${what}, ${width} px`).toEqual([]);
}

const looksMax = 20;

/** What axe finds each time: on a busy machine, an element has the colour of the theme before for a moment. */
async function findLasting(page: Page, rules: Rules, known: readonly string[]): Promise<readonly unknown[]> {
  let found: readonly unknown[] = [];
  for (let looks = 0; looks < looksMax; looks += 1) {
    found = (await findViolations(page, rules)).filter(([rule]) => !known.includes(rule));
    if (found.length === 0) {
      break;
    }
  }
  return found;
}
