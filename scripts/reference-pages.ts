// Writes the pages that are made from code: the tables of settings and of models between two markers, the example of a YAML file,
// the table of RPCs, the errors, and the programs that pages quote.

import { globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { settings } from "../src/app/settings.ts";
import type { Key } from "../src/platform/config/keys.ts";

const { keys } = settings;

import { errorsPagePath, printErrorsPage } from "./errors-page.ts";
import { librariesPagePath, printLibrariesPage } from "./libraries-page.ts";
import { fillModelsPage, modelsPagePath } from "./models-table.ts";
import { fillQuotes, hasQuotes } from "./quotes.ts";
import { printRpcPage, rpcPagePath } from "./rpc-page.ts";
import { repositoryRoot } from "./run-command.ts";

const pagePath = "docs/reference/settings.md";
const examplePath = "docs/config.example.yaml";
const beginning = "<!-- settings: written by `npm run generate` -->";
const end = "<!-- /settings -->";

export async function writeReferencePages(): Promise<void> {
  for (const [path, text] of await printFiles()) {
    await writeFile(join(repositoryRoot, path), text);
  }
}

/** Throws when a page is stale. */
export async function checkReferencePagesAreFresh(): Promise<string> {
  const files = await printFiles();
  const found = await Promise.all([...files.keys()].map(async (path) => [path, await readOrNothing(path)] as const));
  const stale = found.filter(([path, text]) => text !== files.get(path)).map(([path]) => path);
  if (stale.length > 0) {
    throw new Error(
      `${stale.join(" and ")}: not made from the settings, RPCs, errors, models and examples as they are; run \`npm run generate\` and commit the result.`,
    );
  }
  return `${Object.keys(keys).length} settings`;
}

async function printFiles(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(join(repositoryRoot, pagePath), "utf8");
  const modelsPage = await readFile(join(repositoryRoot, modelsPagePath), "utf8");
  return new Map([
    [pagePath, fillMarkers(page)],
    [modelsPagePath, fillModelsPage(modelsPage)],
    [examplePath, printExample()],
    [rpcPagePath, printRpcPage()],
    [errorsPagePath, printErrorsPage()],
    [librariesPagePath, printLibrariesPage()],
    ...readQuotingPages(),
  ]);
}

function readQuotingPages(): [path: string, text: string][] {
  const paths = globSync(["*.md", "docs/**/*.md"], { cwd: repositoryRoot });
  const pages = paths.map((path) => [path, readFileSync(join(repositoryRoot, path), "utf8")] as const);
  return pages.filter(([, text]) => hasQuotes(text)).map(([path, text]) => [path, fillQuotes(text)]);
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return await readFile(join(repositoryRoot, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") {
      return undefined;
    }
    throw error;
  });
}

function fillMarkers(text: string): string {
  const [start, stop] = [text.indexOf(beginning), text.indexOf(end)];
  if (start === -1 || stop < start) {
    throw new Error(`${pagePath} lacks the line ${beginning}, or the line ${end} below it`);
  }
  return `${text.slice(0, start)}${beginning}\n\n${printTables()}\n\n${text.slice(stop)}`;
}

const rows: readonly Key<unknown>[] = Object.values(keys);

/** The first word of a key. */
function sectionOf(key: Key<unknown>): string {
  return key.path.split(".")[0] ?? "";
}

function rowsBySection(): ReadonlyMap<string, readonly Key<unknown>[]> {
  return Map.groupBy(rows, sectionOf);
}

function printTables(): string {
  return [...rowsBySection()].map(([section, keysOfIt]) => printTable(section, keysOfIt)).join("\n\n");
}

function printTable(section: string, keysOfIt: readonly Key<unknown>[]): string {
  const lines = keysOfIt.map((key) => {
    const variables = key.variables.map((name) => `\`${name}\``).join("<br>");
    const cells = [`\`${key.path}\`${key.secret === true ? " ª" : ""}`, variables, printDefault(key), key.about];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return [`**${section}**`, "", "| key | variable | default | |", "|---|---|---|---|", ...lines].join("\n");
}

function printDefault({ fallback, fallbackAbout }: Key<unknown>): string {
  const text = String(fallback ?? "");
  return fallbackAbout ?? (text === "" ? "" : `\`${text}\``);
}

function printExample(): string {
  const opening = [
    "# Settings of Runnel. Copy it to config.yaml, or name it with --config; take the # from what you set.",
    "# What is set by the environment or the command line counts more than this file. Written by `npm run generate`.",
  ];
  const sections = [...rowsBySection()].map(([section, keysOfIt]) => printSection(section, keysOfIt));
  return `${[...opening, ...sections.map((lines) => `\n${lines}`)].join("\n")}\n`;
}

/** Keys of a section below it stand together, so that each section is named once. */
function printSection(section: string, keysOfIt: readonly Key<unknown>[]): string {
  const below = Map.groupBy(keysOfIt, ({ path }) => path.split(".").slice(1, -1).join("."));
  const blocks = [...below].map(([name, those]) => {
    const indent = name === "" ? "  " : "    ";
    return [...(name === "" ? [] : [`  ${name}:`]), ...those.flatMap((key) => printSetting(key, indent))].join("\n");
  });
  return [`${section}:`, ...blocks].join("\n");
}

function printSetting(key: Key<unknown>, indent: string): string[] {
  const name = key.path.split(".").at(-1);
  const value = JSON.stringify(key.fallback ?? "").replaceAll('","', '", "');
  return [`${indent}# ${key.about.replaceAll("`", "")}`, `${indent}# ${name}: ${value}`];
}
