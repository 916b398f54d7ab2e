// Reads the table of docs/README.md: the sidebar of the site and llms.txt have its sections and links, in its order.

import { statSync } from "node:fs";
import { join, posix } from "node:path";
import { repositoryRoot } from "../run-command.ts";
import { listPages, readPage, summaryOf } from "./pages.ts";

export interface IndexSection {
  readonly title: string;
  readonly entries: readonly IndexEntry[];
}

export interface IndexEntry {
  readonly name: string;
  /** The page as a path below the root. */
  readonly path: string;
  /** One sentence. */
  readonly about: string;
  /** The other pages of a folder that the table links as a whole. */
  readonly below: readonly string[];
}

const indexPath = "docs/README.md";
const row = /^\| (?:\*\*(.+?)\*\*)? ?\| (.+) \|$/;
/** A link, and the words between it and the next one. */
const link = /\[([^\]]+)\]\(([^)#]+)\)(?:: ([^·[|]+))?/g;

/** Throws when the table has no section, or a link without a description. */
export function readIndexTable(): IndexSection[] {
  const sections: { title: string; entries: IndexEntry[] }[] = [];
  for (const line of readPage(indexPath).split("\n")) {
    const [, title, cell = ""] = row.exec(line) ?? [];
    if (title !== undefined) {
      sections.push({ title, entries: [] });
    }
    for (const [, name = "", target = "", words] of cell.matchAll(link)) {
      sections.at(-1)?.entries.push(toEntry(name, target, words?.trim()));
    }
  }
  if (sections.length === 0) {
    throw new Error(`${indexPath} has no row that begins a section, such as "| **Start** | [Concepts](concepts.md) |"`);
  }
  return sections;
}

function toEntry(name: string, target: string, words: string | undefined): IndexEntry {
  const linked = posix.join(posix.dirname(indexPath), target);
  const isFolder = statSync(join(repositoryRoot, linked)).isDirectory();
  const path = isFolder ? `${linked}/README.md` : linked;
  const about = summaryOf(path) ?? words;
  if (about === undefined) {
    throw new Error(`${path} needs a sentence below its title, or ${indexPath} words behind its link: "[…](…): words"`);
  }
  const below = isFolder ? listPages().filter((page) => page.startsWith(`${linked}/`) && page !== path) : [];
  return { name: `${name.charAt(0).toUpperCase()}${name.slice(1)}`, path, about, below };
}
