// A journey: what a person does in the console from its start page, by the names that the page shows, on two of four screens.

import { expect, test } from "vitest";
import { type ConsoleOptions, type ConsolePage, expectCalm, openConsole } from "../console-page.ts";

/** A screen of a person. */
export interface Screen {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: "light" | "dark";
}

const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };

/** Two for each journey, which take turns: each width and each theme once. */
const pairs: readonly (readonly Screen[])[] = [
  [
    { viewport: wide, colorScheme: "light" },
    { viewport: narrow, colorScheme: "dark" },
  ],
  [
    { viewport: wide, colorScheme: "dark" },
    { viewport: narrow, colorScheme: "light" },
  ],
];

/** Opens the start page of a service, or a link that the person has. */
export type Start = (url: string, options?: ConsoleOptions & { readonly link?: string }) => Promise<ConsolePage>;

interface Expected {
  /** What the browser complains about in this journey, such as calls of a service that is away. */
  readonly complaints?: RegExp;
}

/** Registers a journey. At its end, no page may have complained, asked another host, or be wider than the screen. */
export function journey(
  number: number,
  name: string,
  walk: (start: Start) => Promise<void>,
  expected: Expected = {},
): void {
  for (const screen of pairs[number % pairs.length] ?? []) {
    test(`${number}. ${name}, at ${screen.viewport.width} px, ${screen.colorScheme}`, async () => {
      const pages: ConsolePage[] = [];
      await walk(async (url, { link = "", ...options } = {}) => {
        const opened = await openConsole(url, link.replace(`${url}/console/`, ""), { ...screen, ...options });
        pages.push(opened);
        return opened;
      });
      expect(pages.length).toBeGreaterThan(0);
      for (const opened of pages) {
        expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBe(screen.viewport.width);
        const complaints = opened.complaints.filter((text) => expected.complaints?.test(text) !== true);
        expectCalm({ ...opened, complaints });
      }
    });
  }
}
