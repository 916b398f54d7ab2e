import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { glob } from "../../src/agent/tools/glob.ts";
import { areaOfEachTest } from "./area.ts";

const area = areaOfEachTest();

const nothing = { content: "No files found" };

/** The matches, relative to the work directory. */
async function find(pattern: string, path?: string): Promise<string[]> {
  const outcome = await area.run(glob, { pattern, path });
  expect(outcome).toHaveProperty("content", expect.not.stringMatching(/\n$/));
  const { content } = outcome as { content: string };
  return content === "No files found" ? [] : content.split("\n").map((line) => line.replace(`${area.root}/`, ""));
}

describe("files", () => {
  test("are listed by absolute path, one a line, in byte order", async () => {
    for (const path of ["b.ts", "a/z.ts", "a.ts", "ä.ts", "Z.ts", "a/b/c.ts", "a-b/c.ts", "x.js"]) {
      area.write(path, "");
    }
    const found = ["Z.ts", "a/b/c.ts", "a/z.ts", "a-b/c.ts", "a.ts", "b.ts", "ä.ts"];
    expect(await area.run(glob, { pattern: "**/*.ts" })).toEqual({
      content: found.map((path) => join(area.root, path)).join("\n"),
    });
  });

  test("are found at any depth, with ** at any position, hidden ones included", async () => {
    for (const path of ["deep/a/b/x.go", "deep/x.go", "src/.hidden/x.go", "src/x.go", "other/x.go"]) {
      area.write(path, "");
    }
    expect(await find("deep/**/*.go")).toEqual(["deep/a/b/x.go", "deep/x.go"]);
    expect(await find("{src,other}/**")).toEqual(["other/x.go", "src/.hidden/x.go", "src/x.go"]);
    expect(await find("*/x.go")).toEqual(["deep/x.go", "other/x.go", "src/x.go"]);
    expect(await find("*.go")).toEqual([]);
    expect(await find("src/x.go")).toEqual(["src/x.go"]);
  });

  test("are searched below path, or below the directory of an absolute pattern", async () => {
    area.write("src/lib/a.ts", "");
    area.write("src/b.ts", "");
    expect(await find("*.ts", "src")).toEqual(["src/b.ts"]);
    expect(await find("lib/*", "src")).toEqual(["src/lib/a.ts"]);
    expect(await find("./**", join(area.root, "src/lib"))).toEqual(["src/lib/a.ts"]);
    expect(await find(join(area.root, "src/**/a.*"))).toEqual(["src/lib/a.ts"]);
    expect(await find(`${area.root}/src/../src/*`)).toEqual(["src/b.ts"]);
  });

  test("are limited to 1000", async () => {
    for (let index = 0; index < 1_010; index += 1) {
      area.write(`f${index}`, "");
    }
    const found = await find("*");
    expect(found).toHaveLength(1_000);
    expect(found.slice(0, 3)).toEqual(["f0", "f1", "f10"]);
  });
});

describe("ignored are", () => {
  test("directories of generated or foreign files, unless they are named", async () => {
    for (const directory of [".git", "node_modules", "vendor", ".idea", ".vscode", "dist", "a/vendor"]) {
      area.write(`${directory}/f`, "");
    }
    expect(await find("**")).toEqual([".vscode/f", "dist/f"]);
    expect(await find("*/f")).toEqual([".vscode/f", "dist/f"]);
    expect(await find("vendor/*")).toEqual(["vendor/f"]);
    expect(await find("**", "a/vendor")).toEqual(["a/vendor/f"]);
  });

  test("all links, and all that is not a regular file", async () => {
    area.write("d/f", "");
    writeFileSync(join(area.outside, "secret"), "");
    symlinkSync(area.outside, join(area.root, "out"));
    symlinkSync(join(area.outside, "secret"), join(area.root, "secret"));
    symlinkSync("d", join(area.root, "inner"));
    symlinkSync(".", join(area.root, "self"));
    execFileSync("mkfifo", [join(area.root, "pipe")]);
    expect(await find("**")).toEqual(["d/f"]);
    expect(await find("inner/*")).toEqual(["inner/f"]);
  });

  test("sensitive places", async () => {
    for (const path of [
      ".ssh/id",
      "home/.aws/x",
      ".docker/config.json",
      ".docker/other",
      "etc/shadow",
      ".env",
      "x.ssh/f",
    ]) {
      area.write(path, "");
    }
    expect(await find("**")).toEqual([".docker/other", ".env", "x.ssh/f"]);
    expect(await area.run(glob, { pattern: ".ssh/*" })).toEqual({
      error: 'access to sensitive path "/.ssh/" is blocked',
    });
  });
});

describe("nothing is found", () => {
  test("by a pattern that matches nothing, also in a missing directory", async () => {
    area.write("f", "");
    for (const pattern of ["*.ts", "no/**", "f/*", "d/", "[", "**/..x"]) {
      expect([pattern, await area.run(glob, { pattern })]).toEqual([pattern, nothing]);
    }
  });

  test("with an error where the path is wrong", async () => {
    const file = area.write("f", "");
    expect(await area.run(glob, { pattern: "*", path: "no" })).toEqual({
      error: `open ${join(area.root, "no")}: no such file or directory`,
    });
    expect(await area.run(glob, { pattern: "*", path: "f" })).toEqual({ error: `open ${file}: not a directory` });
    mkdirSync(join(area.root, "d"));
    for (const [pattern, path, named] of [
      ["*", "..", join(area.base, "area")],
      ["../**", "", join(area.base, "area")],
      ["/etc/*", "d", "/etc"],
      ["{..,d}/*", "", `${area.root}/{..,d}/*`],
      ["*/../../*", "d", `${area.root}/d/*/../../*`],
    ]) {
      expect(await area.run(glob, { pattern, path })).toEqual({ error: `path "${named}" is outside work directory` });
    }
  });
});

test("a tree deeper than the maximum is searched to that depth, and the answer says so", async () => {
  area.write(`${"d/".repeat(100)}f`, "");
  area.write(`${"d/".repeat(101)}f`, "");
  const content = `${area.root}/${"d/".repeat(100)}f\n... (directories more than 100 levels deep were left out)`;
  expect(await area.run(glob, { pattern: "**/f" })).toEqual({ content });
});
