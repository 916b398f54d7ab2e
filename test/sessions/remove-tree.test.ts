// Removing files that commands left in a work directory, made as hard to remove as possible.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeTree } from "../../src/engine/sessions/remove-tree.ts";

function makeTree(commands: string): string {
  const base = mkdtempSync(join(tmpdir(), "runnel-tree-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "root");
  mkdirSync(root);
  writeFileSync(join(base, "beside"), "stays");
  execFileSync("bash", ["-c", commands], { cwd: root });
  return root;
}

async function expectRemoved(root: string): Promise<void> {
  await removeTree(root);
  expect(existsSync(root)).toBe(false);
  expect(readdirSync(join(root, ".."))).toEqual(["beside"]);
}

test("a tree of files, links, pipes and names that are not UTF-8 is removed", async () => {
  const root = makeTree(
    "mkdir -p a/b; echo x > a/b/c; mkfifo p; ln -s /etc l; touch $'\\xff'; mkdir .removed-1; touch .removed-1/f",
  );
  symlinkSync(join(root, ".."), join(root, "a", "up"));
  await expectRemoved(root);
});

test("a tree without any permission is removed", async () => {
  await expectRemoved(makeTree("mkdir -p a/b/c; echo x > a/b/f; chmod 000 a/b/c a/b a ."));
});

test("a tree of 500 directories, longer than any path, is removed", async () => {
  await expectRemoved(
    makeTree('n=$(printf "d%.0s" $(seq 200)); for i in $(seq 500); do mkdir $n; cd $n; done; echo x > f; chmod 000 .'),
  );
});

test("a missing tree is not an error", async () => {
  await removeTree(join(tmpdir(), "runnel-tree-that-is-not-there"));
});
