// Fills the code blocks of pages that quote a program: `<!-- examples/… -->` stands above each of them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./run-command.ts";

const quote = /<!-- (examples\/\S+) -->\n```(\w+)\n[\s\S]*?```\n/g;

/** Returns whether a page quotes a program. */
export function hasQuotes(page: string): boolean {
  return page.search(quote) !== -1;
}

/** Returns a page with its quotes as the programs are now. */
export function fillQuotes(page: string): string {
  return page.replaceAll(quote, (_found, path: string, language: string) => {
    const code = readFileSync(join(repositoryRoot, path), "utf8");
    return `<!-- ${path} -->\n\`\`\`${language}\n${code}\`\`\`\n`;
  });
}
