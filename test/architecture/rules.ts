// The style rules for src/ that a machine can check. A rule checks one file and returns its violations with their lines.

import { importedLayer, isKnownLayer, layerOf, refuseImport } from "./layers.ts";
import { lineAt, type SourceFile } from "./source-file.ts";

export interface Finding {
  readonly line: number;
  readonly message: string;
}

export interface Rule {
  readonly name: string;
  readonly check: (file: SourceFile) => Finding[];
}

export const rules: readonly Rule[] = [
  { name: "folders are those of the layer table", check: checkFolder },
  { name: "imports go down the layers", check: checkImports },
  { name: "a file opens with a comment", check: checkOpening },
  { name: "names say what a file holds", check: checkName },
  {
    name: "no syntax that type stripping refuses",
    check: forbidCode({
      pattern: /^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?(?:const[ \t]+)?(?:enum|namespace)[ \t]+[A-Za-z_$]/gm,
      message: "no enum or namespace: the source runs with its types stripped",
    }),
  },
  {
    name: "SQL stays in storage",
    check: forbidCode({
      pattern: /\bsql(?:<[^`]*?>)?`/g,
      allowed: holdsSql,
      message: "SQL belongs in a storage folder",
    }),
  },
  { name: "the engine alone writes runs and sessions", check: checkCoreRows },
  { name: "only storage knows the database library", check: checkDatabaseImports },
  {
    name: "time and chance come from base",
    check: forbidCode({
      pattern: /\bDate\.now\b|\bnew Date\(\)|(?<![.\w])set(?:Timeout|Interval)\b|\bMath\.random\b|\brandomUUID\b/g,
      allowed: (path) => ["platform/base", "cli"].includes(layerOf(path)),
      message: "time comes from the Clock and ids from src/platform/base, so that a test can decide them",
    }),
  },
  {
    name: "one file prints",
    check: forbidCode({
      pattern: /\bconsole\.\w+|\bprocess\.std(?:out|err)\.write\b/g,
      allowed: (path) => ["binary.ts", "cli/terminal.ts", "main.ts"].includes(path),
      message: "src/cli/terminal.ts prints: it keeps text from outside from acting on a terminal",
    }),
  },
];

/** All violations in `files`, as `src/<path>:<line> <message>`. */
export function findOffences(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    rules.flatMap((rule) => rule.check(file).map((finding) => `src/${file.path}:${finding.line} ${finding.message}`)),
  );
}

/** Names that say where things are kept instead of what they are. */
const emptyWords = ["util", "utils", "common", "misc", "manager", "helper", "helpers", "impl"];

const databasePackages = ["kysely", "pg"];

function checkFolder(file: SourceFile): Finding[] {
  const layer = layerOf(file.path);
  return isKnownLayer(layer)
    ? []
    : [{ line: 1, message: `"${layer}" is not in the table of test/architecture/layers.ts` }];
}

function checkImports(file: SourceFile): Finding[] {
  return file.imports.flatMap(({ specifier, line }) => {
    const target = importedLayer(file.path, specifier);
    const message = target === undefined ? undefined : refuseImport(file.path, target);
    return message === undefined ? [] : [{ line, message }];
  });
}

function checkOpening(file: SourceFile): Finding[] {
  // Only the entry may start with a #! line.
  const text = file.text.replace(/^#![^\n]*\n/, "");
  return /^\/[/*]/.test(text) ? [] : [{ line: 1, message: "a file opens with a comment: what it holds and promises" }];
}

function checkName(file: SourceFile): Finding[] {
  const words = file.path.replace(/\.ts$/, "").split(/[/.-]/);
  return words
    .filter((word) => emptyWords.includes(word))
    .map((word) => ({ line: 1, message: `"${word}" says nothing about what the file holds` }));
}

/** Statements in SQL and in the query builder that write the two tables on which all promises rest. */
const coreWrites =
  /\b(?:(?:insert|merge) into|update(?: only)?|delete from(?: only)?)\s+"?(?:run|session)\b|\b(?:insertInto|mergeInto|updateTable|deleteFrom)\(\s*["'`](?:run|session)\b/gi;

function checkCoreRows(file: SourceFile): Finding[] {
  if (layerOf(file.path) === "engine/storage") {
    return [];
  }
  return [...file.strings.matchAll(coreWrites)].map((match) => ({
    line: lineAt(file.strings, match.index),
    message: `${match[0]}: src/engine/storage writes this table, so that a new column or state has one place`,
  }));
}

function checkDatabaseImports(file: SourceFile): Finding[] {
  if (holdsSql(file.path)) {
    return [];
  }
  return file.imports
    .filter(({ specifier }) => databasePackages.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
    .map(({ specifier, line }) => ({ line, message: `only storage folders import ${specifier}` }));
}

/** Each part has its tables in a `storage` folder of its own, on top of `platform/database`. */
function holdsSql(path: string): boolean {
  return layerOf(path) === "platform/database" || path.includes("/storage/");
}

interface ForbiddenCode {
  readonly pattern: RegExp;
  readonly allowed?: (path: string) => boolean;
  readonly message: string;
}

function forbidCode({ pattern, allowed = () => false, message }: ForbiddenCode): Rule["check"] {
  return (file) => {
    if (allowed(file.path)) {
      return [];
    }
    return [...file.code.matchAll(pattern)].map((match) => ({
      line: lineAt(file.code, match.index),
      message: `${match[0].trim()}: ${message}`,
    }));
  };
}
