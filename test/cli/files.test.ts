// `runnel files`: the files of a session, in a table, on a terminal, in a pipe and in a new file.

import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { runCommand, runInTerminal } from "./command.ts";

const binary = Buffer.concat([Buffer.from("\0\u001b[2J"), randomBytes(100_000)]);

async function openStage() {
  const workDir = await openFolder();
  await mkdir(join(workDir, "out"));
  await writeFile(join(workDir, "out/report.md"), "# Résumé\n\u001b[31mred\n");
  await writeFile(join(workDir, "out/photo.png"), binary);
  const { url } = await startService({ sessionsWorkDirs: [workDir] });
  const body = JSON.stringify({ session_id: "work", agent: { name: "a" }, work_dir: workDir });
  await fetch(`${url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body });
  const directory = await openFolder();
  return {
    ...{ url, directory },
    run: (...words: string[]) => runCommand(["files", ...words, "--url", url], { directory }),
  };
}

test("files are listed, in a table and for programs", async () => {
  const { run } = await openStage();
  expect((await run("list", "work")).stdout).toMatch(/^PATH +TYPE +BYTES +CHANGED\nout +directory +\d+ +\S+/);
  const { files } = JSON.parse((await run("list", "work", "out", "--json")).stdout);
  expect(files).toMatchObject([
    { path: "out/photo.png", type: "file", size_bytes: binary.length },
    { path: "out/report.md", type: "file", size_bytes: 20 },
  ]);
  const first = await run("list", "work", "out", "--limit", "1", "-o", "id");
  expect(first).toMatchObject({ stdout: "out/photo.png\n", stderr: expect.stringContaining("more than 1") });
});

test("a pipe gets the bytes of a file, and a terminal its text alone, without control characters", async () => {
  const { run, url } = await openStage();
  expect((await run("show", "work", "out/report.md")).stdout).toBe("# Résumé\n\u001b[31mred\n");
  const shown = await runInTerminal(["files", "show", "work", "out/report.md", "--url", url]);
  expect(shown.stdout.replaceAll("\r\n", "\n")).toBe("# Résumé\n␛[31mred\n");
  const refused = await runInTerminal(["files", "show", "work", "out/photo.png", "--url", url]);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("out/photo.png is not text in UTF-8");
  expect(refused.stdout).toContain(`runnel files get work out/photo.png --url ${url}`);
  expect(refused.stdout).not.toContain("[2J");
  expect(JSON.parse((await run("show", "work", "out/report.md", "--json")).stdout)).toEqual({
    path: "out/report.md",
    text: "# Résumé\n\u001b[31mred\n",
  });
  const noText = await run("show", "work", "out/photo.png", "--json");
  expect(noText).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("FILE_NOT_TEXT") });
});

test("a file is saved whole, and replaces another one only with --force", async () => {
  const { run, directory } = await openStage();
  const saved = await run("get", "work", "out/photo.png");
  expect(saved.stdout).toBe(`wrote photo.png: ${binary.length} bytes\n`);
  expect((await readFile(join(directory, "photo.png"))).equals(binary)).toBe(true);
  const again = await run("get", "work", "out/report.md", "--out", "photo.png");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("add --force") });
  const forced = await run("get", "work", "out/report.md", "--out", "photo.png", "--force", "--json");
  expect(JSON.parse(forced.stdout)).toEqual({ path: "out/report.md", file: "photo.png", bytes: 20 });
  const missing = await run("get", "work", "out/missing");
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("runnel files list <session>") });
  expect(await readdir(directory)).toEqual(["photo.png"]);
});
