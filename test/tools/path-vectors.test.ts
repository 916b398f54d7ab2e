// The acceptance cases for paths, for the tools that exist.

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtinTools } from "../../src/agent/tools/builtin.ts";
import { Area } from "./area.ts";

interface SetupStep {
  readonly op: "dir" | "file" | "link" | "fifo" | "hard";
  readonly path: string;
  readonly arg?: string;
}

interface PathCase {
  readonly id: string;
  readonly tool: string;
  readonly path: string;
  readonly expect: "allow" | "deny";
  readonly why: string;
  readonly error?: "NOT_FOUND";
  readonly may_deny?: boolean;
  readonly may_allow?: boolean;
  readonly class?: "dos";
}

interface Vectors {
  readonly setup: readonly SetupStep[];
  readonly cases: readonly PathCase[];
}

const vectors: Vectors = JSON.parse(readFileSync(join(import.meta.dirname, "../vectors/path.json"), "utf8"));

/** The arguments of each tool whose cases run here. */
const callArguments: Readonly<Record<string, (path: string) => Record<string, unknown>>> = {
  read_file: (path) => ({ file_path: path }),
  write_file: (path) => ({ file_path: path, content: "written" }),
  list_dir: (path) => ({ path }),
  glob: (pattern) => ({ pattern }),
  grep: (text) =>
    Object.fromEntries([...text.matchAll(/(path|pattern)=(\S+)/g)].map(([, name, value]) => [name, value])),
};

describe.each(Object.entries(callArguments))("%s", (toolName, argumentsFor) => {
  const tool = builtinTools.find((candidate) => candidate.name === toolName);
  const cases = vectors.cases.filter((candidate) => candidate.tool === toolName);

  test("has cases", () => {
    expect(tool).toBeDefined();
    expect(cases.length).toBeGreaterThan(0);
  });

  test.each(cases)("$id: $expect, $why", async (pathCase) => {
    using area = new Area();
    for (const step of vectors.setup) {
      setUp(area, step);
    }
    if (pathCase.class === "dos") {
      area.write("long-line", `${"a".repeat(1_048_000)}!`);
    }
    const before = readForeign(area);
    const outcome = await tool?.run(argumentsFor(expand(area, pathCase.path)), area.context);
    expect(readForeign(area)).toEqual(before);
    expect(area.countDescriptors()).toBe(0);
    expect(JSON.stringify(outcome).replaceAll(area.base, "")).not.toMatch(/SECRET|KEY|decoy|root:/);
    if (!mayEitherWay(pathCase)) {
      expect(outcome).toHaveProperty(pathCase.expect === "allow" ? "content" : "error");
    }
    if (pathCase.error === "NOT_FOUND") {
      expect(outcome).toHaveProperty("error", expect.stringMatching(/: no such file or directory$/));
    }
  });
});

test("every case names a tool of the service", () => {
  const known = ["read_file", "write_file", "edit_file", "bash", "glob", "grep", "list_dir"];
  expect(vectors.cases.map((pathCase) => pathCase.tool).filter((name) => !known.includes(name))).toEqual([]);
});

function mayEitherWay(pathCase: PathCase): boolean {
  // A hostile pattern may find anything, as long as it ends.
  return pathCase.may_deny === true || pathCase.may_allow === true || pathCase.class === "dos";
}

function expand(area: Area, text: string): string {
  return text.replaceAll(/\$\{(BASE|ROOT)\}/g, (_all, name) => (name === "BASE" ? area.base : area.root));
}

function setUp(area: Area, step: SetupStep): void {
  const path = join(area.base, step.path);
  const arg = expand(area, step.arg ?? "");
  switch (step.op) {
    case "dir":
      mkdirSync(path, { recursive: true });
      break;
    case "file":
      writeFileSync(path, arg);
      break;
    case "link":
      symlinkSync(arg, path);
      break;
    case "fifo":
      execFileSync("mkfifo", [path]);
      break;
    case "hard":
      linkSync(join(area.base, arg), path);
      break;
    default:
      throw new Error(`unknown setup step: ${step.op satisfies never}`);
  }
}

/** All files beside the work directory, by name and content. */
function readForeign(area: Area): Record<string, string> {
  const directories = [area.outside, join(area.base, "area/s10"), join(area.base, "area/s1-evil")];
  return Object.fromEntries(
    directories.flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
        const path = join(directory, name);
        return [path, readFileSync(path, "utf8")];
      }),
    ),
  );
}
