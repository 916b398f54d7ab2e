// The pages of the documentation: which files they are, their titles, and the anchors of their headings.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../run-command.ts";

/** The pages as paths below the root. Every other Markdown file is read in the repository. */
export function listPages(): string[] {
  const patterns = ["*.md", "{src,test}/README.md", "docs/**/*.md", "examples/**/*.md", "clients/{*,*/*}.md"];
  return globSync(patterns, { cwd: repositoryRoot, exclude: ["**/node_modules/**"] }).sort();
}

/** What the generator leaves out, so that it finds the pages of `listPages`. `npm run docs` compares the two. */
export const unlistedPatterns = ["!(*.md|clients|docs|examples|src|test)/**", "{src,test}/*/**", "clients/*/*/**"];

export function readPage(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

/** Returns the text of the first heading. Throws when the page has none. */
export function titleOf(path: string): string {
  const title = /^# (.+)$/m.exec(readPage(path))?.[1];
  if (title === undefined) {
    throw new Error(`${path} has no title: begin it with a line such as "# Errors"`);
  }
  return title.replaceAll("`", "");
}

/** Returns the first sentence of a page as plain text; undefined when no paragraph follows its title. */
export function summaryOf(path: string): string | undefined {
  const [, paragraph = ""] = readPage(path)
    .replace(/^[\s\S]*?^# /m, "")
    .split(/\n{2,}/);
  if (!/^[A-Z`[]/.test(paragraph)) {
    return undefined;
  }
  const plain = paragraph.replaceAll("\n", " ").replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  return /^.*?(?:\.(?=\s|$)|:$)/.exec(plain)?.[0].replace(/:$/, ".");
}

/** Makes the anchor of a heading, as GitHub does. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Returns the anchors of a page: those of its headings, and its ids. */
export function anchorsOf(text: string): string[] {
  const withoutBlocks = text.replaceAll(/```[\s\S]*?```/g, "");
  const slugs = [...withoutBlocks.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => slugOf(heading));
  const numbered = slugs.map((slug, index) => {
    const earlier = slugs.slice(0, index).filter((each) => each === slug).length;
    return earlier === 0 ? slug : `${slug}-${earlier}`;
  });
  return [...numbered, ...[...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)];
}
