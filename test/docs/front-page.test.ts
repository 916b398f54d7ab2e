// The pages that a new user reads: short, and every link works.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf, listPages } from "../../scripts/docs/pages.ts";
import { repositoryRoot } from "../../scripts/run-command.ts";

const readme = read("README.md");
const pages = listPages();

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

test("the README has at most 900 words", () => {
  expect(readme.replaceAll(/<!--.*?-->/g, "").split(/\s+/).length).toBeLessThanOrEqual(900);
});

test("a first call takes at most 20 lines in each language", () => {
  const blocks = [...readme.matchAll(/```(sh|ts|python|go)\n([\s\S]*?)```/g)];
  const lines = blocks.map(([, language, code = ""]) => {
    return [language, code.split("\n").filter((line) => line.trim() !== "").length] as const;
  });
  expect(new Set(lines.map(([language]) => language))).toEqual(new Set(["sh", "ts", "python", "go"]));
  expect(lines.filter(([, count]) => count > 20)).toEqual([]);
});

test.each(pages)("every link of %s leads to an existing file and heading", (page) => {
  const prose = read(page).replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)| href="([^"]+)"/g)].map(([, target, href = ""]) => target ?? href);
  const local = links.filter((target) => !/^[a-z]+:/.test(target));
  expect(local.filter((target) => !leads(page, target))).toEqual([]);
});

function leads(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  return existsSync(join(repositoryRoot, file)) && (anchor === undefined || anchorsOf(read(file)).includes(anchor));
}

test("the index of the documentation names every page", () => {
  const index = read("docs/README.md");
  const own = pages.filter((page) => /^docs\/(?!decisions\/|README\.md)/.test(page));
  expect(own.length).toBeGreaterThan(20);
  expect(own.filter((page) => !index.includes(`](${relative("docs", page)})`))).toEqual([]);
});

test("each decision says whether it still holds, and links the page that replaces it", () => {
  const decisions = pages.filter((page) => /^docs\/decisions\/\d/.test(page));
  expect(decisions.length).toBeGreaterThan(30);
  const status = /^# .+\n\n\*\*Status\.\*\* (?:Accepted\.|Replaced(?: in part)? by \[[^\]]+\]\(\d{4}-[\w-]+\.md\))/;
  expect(decisions.filter((page) => !status.test(read(page)))).toEqual([]);
});
