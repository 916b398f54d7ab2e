// The adapter as its README installs it: a copy of clients/python without the rest of the checkout, into a virtual environment
// that holds nothing else. pip fetches what the adapter needs.

import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { runProgram, startProgram } from "../program.ts";
import { openTalk } from "./service.ts";
import { environmentOf, pluginOf } from "./workers.ts";

const installMaxMs = 300_000;
const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] as const;

describe.skipIf(inject("python") === "")("the adapter, installed by pip into a clean environment,", () => {
  let folder = "";
  let bin = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "runnel-install-"));
    bin = join(folder, "venv/bin");
    await copyTracked(join(folder, "checkout"));
    await runCommand("python3", ["-m", "venv", join(folder, "venv")]);
    return () => rm(folder, { recursive: true });
  }, installMaxMs);

  test("leaves its source as it was, and starts", { timeout: installMaxMs }, async () => {
    const source = join(folder, "checkout/clients/python");
    const before = await readdir(source, { recursive: true });
    await runProgram(join(bin, "python"), [...pip, source], { environment: { HOME: folder } });
    expect((await readdir(source, { recursive: true })).sort()).toEqual(before.sort());
    const { stdout } = await runProgram(join(bin, "runnel-langbot"), ["--help"]);
    expect(stdout.toString()).toMatch(/^usage: runnel-langbot /);
  });

  test("runs a runner under the released SDK", { timeout: installMaxMs }, async () => {
    const requirements = join(repositoryRoot, "test/external/python.txt");
    const only = ["--no-deps", "--only-binary", ":all:", "-r", requirements];
    await runProgram(join(bin, "python"), [...pip, ...only], { environment: { HOME: folder } });
    const talk = await openTalk({
      name: "Python, installed",
      start: async (url) =>
        startProgram(join(bin, "runnel-langbot"), [pluginOf("runner"), "--url", url], {
          environment: environmentOf(url),
        }),
    });
    const { run } = await talk.say("hello words=2 pace=0");
    expect(run, talk.stderr()).toMatchObject({
      state: Run_State.COMPLETED,
      output: expect.stringContaining("This is "),
    });
  });
});

/** What git has of the folder, and what it would have after a commit. */
async function copyTracked(to: string): Promise<void> {
  const listed = await runCommand("git", ["ls-files", "-z", "-co", "--exclude-standard", "clients/python"]);
  for (const path of listed.split("\0").filter((each) => each !== "")) {
    await cp(join(repositoryRoot, path), join(to, path));
  }
}
