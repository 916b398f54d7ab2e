// Agents in files: Markdown whose front matter has the fields of an agent and whose text is its system prompt, or YAML with the fields
// alone. Each is a preset of the name of its file.

import { readdirSync } from "node:fs";
import { join, parse } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isMap, LineCounter, parseDocument, type Scalar } from "yaml";
import { splitFrontMatter } from "../../agent/skills/front-matter.ts";
import { readText } from "../../platform/config/file.ts";
import { describeError, invalidConfig, type Problem } from "../../platform/config/problem.ts";
import { findFieldProblem } from "../agent-fields.ts";

const filesMax = 100;
/** The contract's limit of a system prompt, and room for the other fields. */
const fileBytesMax = 1_200_000;
const namePattern = /^[A-Za-z0-9_-]{1,64}$/;
const extensions = [".md", ".yaml", ".yml"];
/** A field that people know from other programs: it is for them, and no model sees it. */
const description = "description";

/** Returns the agents of a directory as lines of `agents.presets`. Throws CONFIG_INVALID with the file, line and field of each problem. */
export function readAgentFiles(directory: string): readonly string[] {
  const problems: Problem[] = [];
  const lines = listFiles(directory).map((name) => readAgent(join(directory, name), problems));
  if (problems.length > 0) {
    throw invalidConfig(problems);
  }
  return lines;
}

function listFiles(directory: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    const text = `the directory of --agents cannot be read: ${describeError(error)}`;
    throw invalidConfig([{ field: "--agents", text }]);
  }
  const files = names.filter((name) => extensions.includes(parse(name).ext)).sort();
  if (files.length > filesMax) {
    const text = `${directory} has ${files.length} agents, maximum ${filesMax}: use several directories`;
    throw invalidConfig([{ field: "--agents", text }]);
  }
  return files;
}

function readAgent(path: string, problems: Problem[]): string {
  const { name, ext } = parse(path);
  const report: Report = (line, field, text) => {
    const of = field === "" ? "" : `${field}: `;
    problems.push({ field: field || path, text: `${path}:${line}: ${of}${text}` });
  };
  if (!namePattern.test(name)) {
    report(1, "name", "the name of the file is the agent's: 1 to 64 letters, digits, dashes and underscores");
  }
  const isMarkdown = ext === ".md";
  const text = readText(path, fileBytesMax);
  const parts = isMarkdown ? splitFrontMatter(text) : { yaml: text, body: "" };
  if (parts === undefined) {
    report(1, "", "it does not begin with front matter between two lines of ---");
    return "";
  }
  const prompt = parts.body.trim();
  const agent = {
    ...readFields(parts.yaml, { name, linesBefore: isMarkdown ? 1 : 0, report }),
    ...(prompt !== "" && { system_prompt: prompt }),
  };
  return `${name}=${JSON.stringify(agent)}`;
}

type Report = (line: number, field: string, text: string) => void;

interface FieldsPlace {
  readonly name: string;
  /** The number of lines of the file before the fields. */
  readonly linesBefore: number;
  readonly report: Report;
}

/** Reads the fields of an agent, each by itself, so that a problem has its line. */
function readFields(yaml: string, { name, linesBefore, report }: FieldsPlace): JsonObject {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, stringKeys: true });
  const lineOf = (offset: number): number => lines.linePos(offset).line + linesBefore;
  for (const { message, pos } of document.errors) {
    report(lineOf(pos[0]), "", message);
  }
  const { contents } = document;
  if (document.errors.length > 0 || contents === null) {
    return {};
  }
  if (!isMap<Scalar>(contents)) {
    report(lineOf(contents.range?.[0] ?? 0), "", "it has to be fields such as model: gpt-4o");
    return {};
  }
  const values: JsonObject = document.toJS({ maxAliasCount: 0 });
  const agent: JsonObject = {};
  for (const { key } of contents.items) {
    const field = String(key.value);
    const value = field === "tools" && Array.isArray(values.tools) ? { builtin: values.tools } : values[field];
    const problem = findProblem(field, value ?? null, name);
    if (problem !== undefined) {
      report(lineOf(key.range?.[0] ?? 0), field, problem);
    } else if (field !== description && value !== null && value !== undefined) {
      agent[field] = value;
    }
  }
  return agent;
}

function findProblem(field: string, value: JsonValue, name: string): string | undefined {
  if (field === description) {
    return typeof value === "string" ? undefined : "expected a text";
  }
  if (field === "name" && value !== name) {
    return `must be ${JSON.stringify(name)}, the name of its file`;
  }
  return findFieldProblem(field, value, [description]);
}
