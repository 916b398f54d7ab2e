// Words that commands understand or refuse, and the failures that need no service: what is told, where, and the exit code.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { databaseUrl } from "../harness/database.ts";
import { type Outcome, runCommand } from "./command.ts";

/** Nothing listens there: ports below 1024 are not handed out, and this one has no service. */
const nobody = "http://127.0.0.1:1";

test.each([["--help"], ["serve", "--help"], ["help", "tail"]])("%s %s helps on standard output", async (...words) => {
  const { code, stdout, stderr } = await runCommand(words.filter((word) => word !== undefined));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: runnel/);
});

test("--version tells the version of the package", async () => {
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await runCommand(["--version"])).toEqual({ code: 0, stdout: `runnel ${version}\n`, stderr: "" });
});

test.each([
  [["rnu"], "unknown command 'rnu'"],
  [["serve", "--prot", "1"], "unknown option '--prot'"],
  [["serve", "--port", "70000"], "expected a port from 0 to 65535"],
  [["tail", "some-run", "--after", "-1"], "expected a sequence: 0, 1, 2 …"],
  [["tail"], "missing required argument 'run'"],
  [["run", "hi", "--url", "localhost:8090"], "expected a URL such as http://127.0.0.1:8090"],
  [[], ""],
])("%j is refused with help on standard error and exit code 2", async (words, told) => {
  const { code, stdout, stderr } = await runCommand(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(told);
  expect(stderr).toMatch(/^Usage: runnel/m);
});

test("settings that are wrong are all told at once, and secrets are not shown", async () => {
  const outcome = await runCommand(["serve"], {
    environment: {
      RUNNEL_SERVER_PORT: "http",
      RUNNEL_RUNS_SLOTS: "0",
      RUNNEL_LOG_LEVEL: "loud",
      RUNNEL_PROVIDERS_OPENAI_KEY: "sk-secret",
      DATABASE_URL: "postgres://user:secret@127.0.0.1:1/runnel",
    },
  });
  expectOneLine(outcome);
  expect(outcome.stderr).toContain('RUNNEL_SERVER_PORT is "http": expected a whole number from 0 to 65535');
  expect(outcome.stderr).toContain('RUNNEL_RUNS_SLOTS is "0": expected a whole number from 1 to 10000');
  expect(outcome.stderr).toContain('RUNNEL_LOG_LEVEL is "loud": expected one of');
  expect(outcome.stderr).not.toContain("secret");
});

test.each(["serve", "dev", "migrate"])("%s names DATABASE_URL when the database cannot be reached", async (command) => {
  const url = databaseUrl("postgres://user:secret@127.0.0.1:1/", "runnel");
  const outcome = await runCommand([command], { environment: { DATABASE_URL: url } });
  expectOneLine(outcome);
  expect(outcome.stderr).toMatch(/ECONNREFUSED 127\.0\.0\.1:1.*check DATABASE_URL/);
  expect(outcome.stderr).not.toContain("secret");
});

test.each([[["run", "hi"]], [["tail", "01890000-0000-7000-8000-000000000000"]]])(
  "%j tells where no service is and how to start one",
  async (words) => {
    const outcome = await runCommand([...words, "--url", nobody]);
    expectOneLine(outcome);
    expect(outcome.stderr).toMatch(/no service at http:\/\/127\.0\.0\.1:1 .*start one with `runnel serve`/);
  },
);

function expectOneLine({ code, stdout, stderr }: Outcome): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^runnel: [^\n]+\n$/);
}
