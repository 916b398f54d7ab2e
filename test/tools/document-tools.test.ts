// The built-in tools against the tables of the Agent Runner document.

import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { builtinTools as offeredTools } from "../../console/src/new-run/draft.ts";
import { createBash } from "../../src/agent/tools/bash/bash.ts";
import { createCommands } from "../../src/agent/tools/bash/commands.ts";
import { builtinToolNames, builtinTools } from "../../src/agent/tools/builtin.ts";
import { memoryToolNames } from "../../src/agent/tools/memory.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { Area } from "./area.ts";

/** The parameters of each tool in order, with their types; a star marks required ones. */
const documented = {
  read_file: ["file_path* string", "offset integer", "limit integer"],
  write_file: ["file_path* string", "content* string"],
  edit_file: ["file_path* string", "old_string* string", "new_string* string", "replace_all boolean"],
  bash: ["command* string", "timeout integer"],
  glob: ["pattern* string", "path string"],
  grep: ["pattern* string", "path string", "include string"],
  list_dir: ["path string"],
} as const;

/** Nothing runs here, so no jail is needed. */
const bash = createBash(
  createCommands({ jail: undefined, clock: systemClock, denyList: "documented", growthBytesMax: 0 }),
);
const tools: readonly Tool[] = [...builtinTools, bash];

function toolOf(name: string): Tool {
  return tools.find((tool) => tool.name === name) ?? expect.fail(`no tool ${name}`);
}

test("the built-in tools are the document's seven, two for people who watch, and those of memory", () => {
  expect([...builtinToolNames].sort()).toEqual(
    [...Object.keys(documented), "set_state", "todo", ...memoryToolNames].sort(),
  );
});

test("docs/tools.md and the console's form of a new run have every built-in tool", async () => {
  const page = await readFile(new URL("../../docs/tools.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| [a-z ]+/gm)].map(([, name = ""]) => name);
  expect(rows).toEqual(expect.arrayContaining([...builtinTools.map(({ name }) => name), ...memoryToolNames]));
  expect(offeredTools.toSorted()).toEqual(builtinToolNames.toSorted());
});

describe.each(Object.entries(documented))("%s", (name, lines) => {
  test("has the parameters of its table", () => {
    const { properties, required = [] } = toolOf(name).parameters as {
      readonly properties: Readonly<Record<string, { readonly type: string; readonly description: string }>>;
      readonly required?: readonly string[];
    };
    const told = Object.entries(properties).map(
      ([parameter, { type }]) => `${parameter}${required.includes(parameter) ? "*" : ""} ${type}`,
    );
    expect(told).toEqual(lines);
  });
});

test("bash tells the model of its default timeout and its limits", () => {
  expect(JSON.stringify(bash.parameters)).toContain("Default: 120.");
  expect(bash.description).toMatch(/10 MB.*512 MB.*64 processes.*100 KB/);
});

describe.each([
  [".ssh/id_ed25519", "/.ssh/"],
  [".aws/credentials", "/.aws/"],
  [".config/gcloud/token", "/.config/gcloud/"],
  [".kube/config", "/.kube/"],
  [".docker/config.json", "/.docker/config.json"],
  ["etc/shadow", "/etc/shadow"],
  ["etc/sudoers", "/etc/sudoers"],
])("%s", (path, part) => {
  test.each([
    ["read_file", { file_path: path }],
    ["write_file", { file_path: path, content: "mine" }],
    ["edit_file", { file_path: path, old_string: "secret", new_string: "mine" }],
    ["grep", { pattern: "secret", path }],
  ])("every sensitive path of the document is blocked for %s", async (name, args) => {
    using area = new Area();
    const real = area.write(path, "secret");
    expect(await area.run(toolOf(name), args)).toEqual({ error: `access to sensitive path "${part}" is blocked` });
    expect(await area.run(toolOf(name), { ...args, path: real, file_path: real })).toEqual({
      error: `access to sensitive path "${part}" is blocked`,
    });
  });
});
