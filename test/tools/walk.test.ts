import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { listDir } from "../../src/agent/tools/list-dir.ts";
import { readFile } from "../../src/agent/tools/read-file.ts";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { openInside } from "../../src/agent/tools/walk.ts";
import { areaOfEachTest } from "./area.ts";
import { startSwapping } from "./swapping.ts";
import { nowhere, workspaceAt } from "./workspace.ts";

const area = areaOfEachTest();
beforeEach(() => {
  area.write("src/a.txt", "inside");
  writeFileSync(join(area.outside, "secret"), "SECRET");
});

const inside = { content: "     1\tinside\n" };

function link(path: string, target: string): void {
  symlinkSync(target, join(area.root, path));
}

async function read(path: string): Promise<ToolOutcome> {
  return await area.run(readFile, { file_path: path });
}

async function list(path: string): Promise<ToolOutcome> {
  return await area.run(listDir, { path });
}

function outside(path: string): ToolOutcome {
  return { error: `path "${path}" is outside work directory` };
}

describe("a path that changes while it is opened (W1)", () => {
  // Another process swaps a file and a link to the secret under one name, as fast as it can. A read must return the file or a
  // refusal. With a check before the open, the file would pass the check and the link would be opened.
  test("never shows a file outside that took the place of a file", async () => {
    await using _swapper = await startSwapping(
      area,
      `
      writeFileSync(root + "/next", "inside"); renameSync(root + "/next", root + "/r");
      symlinkSync(outside + "/secret", root + "/next"); renameSync(root + "/next", root + "/r");
    `,
    );
    await expectBoth(20_000, () => read("r"), "inside");
  });

  // The same one level up: the directory becomes a link to a directory outside with a file of the same name.
  test("never shows a directory outside that took the place of a directory", async () => {
    area.write("d/secret", "inside");
    writeFileSync(join(area.outside, "seen only outside"), "");
    const swap = `
      renameSync(root + "/d", root + "/kept"); symlinkSync(outside, root + "/d");
      unlinkSync(root + "/d"); renameSync(root + "/kept", root + "/d");
    `;
    await using _swapper = await startSwapping(area, swap);
    await expectBoth(1_500, () => read("d/secret"), "inside");
    await expectBoth(1_500, () => list("d"), "secret\t6");
  });
});

describe("links (W2)", () => {
  test("are followed inside the work directory, relative and absolute ones", async () => {
    link("relative", "src/../src/a.txt");
    link("absolute", join(area.root, "src"));
    link("src/up", "../relative");
    expect(await read("relative")).toEqual(inside);
    expect(await read("absolute/a.txt")).toEqual(inside);
    expect(await read("absolute/up")).toEqual(inside);
  });

  test("that leave the work directory are refused, even where they lead back", async () => {
    link("out", "../../outside");
    link("back", "../s1/src");
    link("host", "/");
    expect(await read("out/secret")).toEqual(outside(join(area.root, "out/secret")));
    expect(await read("back/a.txt")).toEqual(outside(join(area.root, "back/a.txt")));
    expect(await list("host")).toEqual(outside(join(area.root, "host")));
  });

  test("resolve `..` in a target against the real directory of the link, not its text", async () => {
    area.write("deep/er/f", "");
    area.write("deep/here", "inside");
    link("short", "deep/er");
    link("target", "short/../here");
    expect(await read("target")).toEqual(inside);
  });

  test("may lead to the configured work directory itself", async () => {
    const spelled = join(area.base, "alias");
    symlinkSync(area.root, spelled);
    const context = { ...area.context, ...workspaceAt(spelled) };
    link("absolute", join(area.root, "src/a.txt"));
    link("spelled", join(spelled, "src/a.txt"));
    for (const path of ["src/a.txt", "absolute", "spelled", join(spelled, "src/a.txt")]) {
      expect(await readFile.run({ file_path: path }, context)).toEqual(inside);
    }
    expect(await readFile.run({ file_path: "no" }, context)).toEqual({
      error: `stat ${spelled}/no: no such file or directory`,
    });
  });

  test("do not hide the real path of a file", async () => {
    link("alias", "src");
    const opened = await openInside(area.context, "alias//a.txt", "file");
    expect(opened).toMatchObject({
      joinedPath: join(area.root, "alias/a.txt"),
      realPath: join(area.root, "src/a.txt"),
    });
    await using _closed = opened as AsyncDisposable;
  });
});

describe("descriptors (W3)", () => {
  test("are closed after success and after every failure", async () => {
    link("out", area.outside);
    link("loop", "loop");
    link("round", "src/../src/a.txt");
    area.write(".ssh/id", "KEY");
    linkSync(join(area.outside, "secret"), join(area.root, "hard"));
    const paths = [
      "",
      "src",
      "round",
      "src/a.txt",
      "no",
      "src/no/x",
      "out/secret",
      "loop",
      ".ssh/id",
      "hard",
      "/",
      "a\0b",
    ];
    for (const path of paths) {
      await read(path);
      await list(path);
    }
    expect(area.countDescriptors()).toBe(0);
  });

  test("are limited to one while a path is open, at any depth", async () => {
    area.write(`${"d/".repeat(50)}f`, "");
    await using _opened = (await openInside(area.context, `${"d/".repeat(50)}f`, "file")) as AsyncDisposable;
    expect(area.countDescriptors()).toBe(1);
  });
});

describe("the walk ends (W4)", () => {
  test("after 20 links", async () => {
    link("link0", "src/a.txt");
    for (let index = 1; index <= 20; index += 1) {
      link(`link${index}`, `link${index - 1}`);
    }
    expect(await read("link19")).toEqual(inside);
    expect(await read("link20")).toEqual({
      error: `stat ${join(area.root, "link20")}: too many levels of symbolic links`,
    });
  });

  test("after 4096 steps, which few links can require", async () => {
    const aimless = "src/../".repeat(580);
    link("one", `${aimless}src/a.txt`);
    link("four", `${aimless}three`);
    link("three", `${aimless}two`);
    link("two", `${aimless}one`);
    expect(await read("one")).toEqual(inside);
    expect(await read("four")).toEqual({
      error: `stat ${join(area.root, "four")}: too many levels of symbolic links`,
    });
  });

  test("before it starts, on a path longer than the system's maximum", async () => {
    expect(await read(`${"x/".repeat(2_048)}y`)).toEqual({ error: "path is too long (4097 bytes, max 4096)" });
    expect(await read(`${"./".repeat(2_043)}src/a.txt`)).toEqual(inside);
  });

  test("at a pipe without a writer and at a socket", async () => {
    execFileSync("mkfifo", [join(area.root, "pipe")]);
    const server = createServer().listen(join(area.root, "socket"));
    await once(server, "listening");
    await using _server = server;
    for (const name of ["pipe", "socket"]) {
      const path = join(area.root, name);
      expect(await read(name)).toEqual({ error: `${path} is not a regular file` });
      expect(await list(name)).toEqual({ error: `open ${path}: not a directory` });
    }
  });
});

describe("refusals", () => {
  test("show the joined path for a path that leads outside", async () => {
    expect(await read("../s10/x")).toEqual(outside(join(area.base, "area/s10/x")));
    expect(await read("/etc/passwd")).toEqual(outside("/etc/passwd"));
    expect(await list(`${area.root}0`)).toEqual(outside(`${area.root}0`));
  });

  test("name the sensitive part, for the directory itself, its contents and links to it", async () => {
    area.write("home/.ssh/id", "KEY");
    area.write(".config/gcloud/x", "KEY");
    link("alias", "home/.ssh");
    const blocked = { error: 'access to sensitive path "/.ssh/" is blocked' };
    expect(await list("home/.ssh")).toEqual(blocked);
    expect(await read("home/.ssh/id")).toEqual(blocked);
    expect(await read("home/.ssh/missing")).toEqual(blocked);
    expect(await list("alias")).toEqual(blocked);
    expect(await list(".config/gcloud")).toEqual({ error: 'access to sensitive path "/.config/gcloud/" is blocked' });
    expect(await list(".config")).toHaveProperty("content");
  });

  test("cover a file with a second name, which may be outside", async () => {
    linkSync(join(area.outside, "secret"), join(area.root, "hard"));
    const refused = `${join(area.root, "hard")} has 2 hard links: only files with a single name are opened`;
    expect(await read("hard")).toEqual({ error: refused });
    unlinkSync(join(area.outside, "secret"));
    expect(await read("hard")).toEqual({ content: "     1\tSECRET\n" });
  });

  test("cover a NUL byte, which would cut the path", async () => {
    expect(await read("src/a.txt\0.png")).toEqual({ error: "path contains a NUL byte" });
  });
});

test("a relative work directory is a defect, not an outcome", async () => {
  await expect(openInside({ ...nowhere, workDir: "area/s1" }, "", "directory")).rejects.toThrow(
    "work directory must be an absolute path",
  );
});

/** After this time fewer rounds are enough, for slow machines. */
const enoughMs = 20_000;

/** Calls until it has seen both sides of the swap, at least `roundsMin` times; each outcome is the inside or an error. */
async function expectBoth(roundsMin: number, call: () => Promise<ToolOutcome>, content: string): Promise<void> {
  let successes = 0;
  let refusals = 0;
  const startedMs = performance.now();
  const isEnough = (round: number): boolean => round >= roundsMin || performance.now() - startedMs > enoughMs;
  for (let round = 0; !isEnough(round) || successes === 0 || refusals === 0; round += 1) {
    const outcome = await call();
    if ("content" in outcome) {
      expect(outcome.content.trim()).toBe(content.includes("\t") ? content : `1\t${content}`);
      successes += 1;
    } else {
      expect(outcome.error).not.toMatch(/SECRET|^panic/);
      refusals += outcome.error.endsWith("is outside work directory") ? 1 : 0;
    }
  }
}
