// The programs that pages show in their code blocks, without a file of their own.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";

/** Returns a block of a page, the first or another one of its language, with the URL of the service in place of that of `runnel dev`. */
export function blockOf(page: string, language: string, url: string, index = 0): string {
  const text = readFileSync(join(repositoryRoot, page), "utf8");
  const blocks = text.split(`\n\`\`\`${language}\n`).slice(1);
  const [code = ""] = (blocks[index] ?? expect.unreachable(`${page} has no such block`)).split("\n```");
  return code.replaceAll("http://127.0.0.1:8090", url);
}
