// Installs the adapter as its README describes: copies of clients/python and clients/langbot without the rest of the checkout,
// into an empty virtual environment. pip downloads its dependencies.

import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { runProgram, startProgram } from "../program.ts";
import { type Environment, makeEnvironment } from "./environment.ts";
import { openTalk } from "./service.ts";
import { environmentOf, pluginOf } from "./workers.ts";

/** pip compiles and downloads on a busy machine. */
const installMaxMs = 600_000;

describe.skipIf(inject("python") === "")("the adapter, installed by pip into a clean environment,", () => {
  let environment: Environment;
  beforeAll(async () => {
    environment = await makeEnvironment();
    return environment.remove;
  }, installMaxMs);

  test("leaves its source unchanged, and starts", { timeout: installMaxMs }, async () => {
    const source = join(environment.folder, "checkout/clients");
    await copyTracked(join(environment.folder, "checkout"));
    const before = await readdir(source, { recursive: true });
    await environment.install(join(source, "python"), join(source, "langbot"));
    expect((await readdir(source, { recursive: true })).sort()).toEqual(before.sort());
    const { stdout } = await runProgram(environment.program("runnel-langbot"), ["--help"]);
    expect(stdout.toString()).toMatch(/^usage: runnel-langbot /);
  });

  test("runs a runner under the released SDK", { timeout: installMaxMs }, async () => {
    const requirements = join(repositoryRoot, "test/external/python.txt");
    await environment.install("--no-deps", "--only-binary", ":all:", "-r", requirements);
    const program = environment.program("runnel-langbot");
    const talk = await openTalk({
      name: "Python, installed",
      start: async (url) =>
        startProgram(program, [pluginOf("runner"), "--url", url], { environment: environmentOf(url) }),
    });
    const { run } = await talk.say("hello words=2 pace=0");
    expect(run, talk.stderr()).toMatchObject({
      state: Run_State.COMPLETED,
      output: expect.stringContaining("This is "),
    });
  });
});

const packages = ["clients/python", "clients/langbot"];

/** Copies the files that git tracks, and those that a commit would add. */
async function copyTracked(to: string): Promise<void> {
  const listed = await runCommand("git", ["ls-files", "-z", "-co", "--exclude-standard", ...packages]);
  for (const path of listed.split("\0").filter((each) => each !== "")) {
    await cp(join(repositoryRoot, path), join(to, path));
  }
}
