// The documentation as plain text for language models: llms.txt, which lists the pages, llms-full.txt, which has all of them, and
// each page as the Markdown that it is made of. https://llmstxt.org

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type IndexEntry, readIndexTable } from "./index-table.ts";
import { sitePathOf, siteTextOf } from "./links.ts";
import { listPages, summaryOf, titleOf } from "./pages.ts";

export async function writeTexts(folder: string): Promise<void> {
  const sections = readIndexTable();
  const lists = sections.map(({ title, entries }) => `## ${title}\n\n${entries.map(printEntry).join("\n")}\n`);
  await writeFile(join(folder, "llms.txt"), [printOpening(), ...lists].join("\n"));
  const pages = new Set(sections.flatMap(({ entries }) => entries.map(({ path }) => path)));
  await writeFile(join(folder, "llms-full.txt"), [...pages].map(printPage).join("\n"));
  for (const page of listPages()) {
    const path = join(folder, sitePathOf(page));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, siteTextOf(page));
  }
}

function printOpening(): string {
  return `# ${titleOf("README.md")}\n\n> ${summaryOf("README.md")}\n\nAll pages in one file: [llms-full.txt](/llms-full.txt)\n`;
}

function printEntry({ name, path, about }: IndexEntry): string {
  return `- [${name}](/${sitePathOf(path)}): ${about}`;
}

function printPage(page: string): string {
  return `<!-- /${sitePathOf(page)} -->\n\n${siteTextOf(page)}`;
}
