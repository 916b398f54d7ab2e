// Words that commands understand or refuse, and the failures that need no service: the message, its stream, and the exit code.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { expect, test } from "vitest";
import { databaseUrl } from "../harness/database.ts";
import { listenLocally } from "../harness/listen.ts";
import { type Outcome, runCommand } from "./command.ts";

/** No program listens there: ports below 1024 are not handed out, and this one has no service. */
const nobody = "http://127.0.0.1:1";

test.each([["--help"], ["serve", "--help"], ["help", "tail"], ["keys", "--help"]])(
  "%s %s prints help on standard output",
  async (...words) => {
    const { code, stdout, stderr } = await runCommand(words.filter((word) => word !== undefined));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: runnel/);
  },
);

test("--version prints the version of the package", async () => {
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await runCommand(["--version"])).toEqual({ code: 0, stdout: `runnel ${version}\n`, stderr: "" });
});

test("help and version load neither commands nor the contract", async () => {
  for (const [word, loads] of [
    ["--help", false],
    ["--version", false],
    ["run", true],
  ] as const) {
    const { stderr } = await runCommand([word], { environment: { NODE_OPTIONS: `--import=${printModules}` } });
    expect(stderr).toMatch(/\/main\.js$/m);
    expect(/\/(?:connect|\w+_pb)-[^/]+\.js$/m.test(stderr)).toBe(loads);
  }
});

/** A module that prints the URL of every loaded module at the end of the program. */
const printModules = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.on("exit", () => process.stderr.write(urls.join("\\n")));`)}`;

test("help lists the exit codes, and the global options of every command", async () => {
  expect((await runCommand(["--help"])).stdout).toMatch(
    /^ {2}0 +done\n {2}1 +failed\n {2}2 +.*\n {2}3 +.*\n {2}130 +/m,
  );
  expect((await runCommand(["tail", "--help"])).stdout).toMatch(
    /^Global Options:\n {2}-o, --output <format> [^-]*\n {2}--json .*\n {2}--no-color /m,
  );
});

test.each([
  [["rnu"], "unknown command 'rnu'", "Did you mean run?"],
  [["sreve"], "unknown command 'sreve'", "Did you mean serve?"],
  [["run", "show", "some-run"], "too many arguments for 'run'[^\\n]+", "Did you mean runs show?"],
  [
    ["run", "which", "files"],
    "too many arguments for 'run'[^\\n]+",
    'put the message in quotes: runnel run "which files"',
  ],
  [["runs", "which files"], "unknown command 'which files'", "Did you mean run?"],
  [["runs", "lst"], "unknown command 'lst'", "Did you mean list?"],
  [["jobs", "lst"], "unknown command 'lst'", "Did you mean list?"],
  [["serve", "--prot", "1"], "unknown option '--prot'", "Did you mean --port?"],
  [["xyzzy"], "unknown command 'xyzzy'", "`runnel --help` lists the commands, [^\\n]+"],
  [["serve", "--port", "70000"], "[^\\n]+expected a port from 0 to 65535", "[^\\n]+"],
  [["tail", "some-run", "--after", "-1"], "[^\\n]+expected a sequence: 0, 1, 2 …", "[^\\n]+"],
  [["tail"], "missing required argument 'run'", "[^\\n]+"],
  [["jobs", "list", "--limit", "0"], "[^\\n]+expected a number from 1 to 99999", "[^\\n]+"],
  [["receipt"], "missing required argument 'run'", "[^\\n]+"],
  [["run", "hi", "--url", "localhost:8090"], "[^\\n]+expected a URL such as http://127.0.0.1:8090", "[^\\n]+"],
])("%j is refused with one line and a fix, and exit code 2", async (words, told, fix) => {
  const { code, stdout, stderr } = await runCommand(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^runnel: ${told}\\n {2}fix {6}${fix.replaceAll("?", "\\?")}\\n$`));
});

test.each([[["jobs"]], [[]]])("%j without a command prints help on standard error, with exit code 2", async (words) => {
  const { code, stdout, stderr } = await runCommand(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^Usage: runnel/);
});

test.each([
  [["rnu"], "unknown command 'rnu'"],
  [["serve", "--prot", "1"], "unknown option '--prot'"],
  [["keys", "create", "--client", "a", "--expires", "soon"], "expected a duration such as 12h, 30d or 4w"],
  [["keys", "create", "--client", "a", "--expires", "2001-02-03"], "expected a time from now to the year 9999"],
  [["keys", "create"], "required option '--client <id>' not specified"],
  [[], "no command was given"],
])("%j --json is refused with one JSON object on standard error and exit code 2", async (words, told) => {
  const { code, stdout, stderr } = await runCommand([...words, "--json"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  const failure = JSON.parse(stderr);
  expect(failure).toEqual({
    error: expect.stringContaining(told),
    reason: "USAGE",
    fix: expect.stringMatching(/--help|Did you mean/),
  });
  expect(failure.error).not.toContain("\n");
});

test("all invalid settings are reported at once, without secrets", async () => {
  const environment = {
    RUNNEL_SERVER_PORT: "http",
    RUNNEL_RUNS_SLOTS: "0",
    RUNNEL_LOG_LEVEL: "loud",
    RUNNEL_PROVIDERS_OPENAI_KEY: "sk-secret",
    DATABASE_URL: "postgres://user:secret@127.0.0.1:1/runnel",
  };
  const outcome = await runCommand(["serve"], { environment });
  expectOneLine(outcome);
  expect(outcome.stderr).toContain('RUNNEL_SERVER_PORT is "http": expected');
  expect(outcome.stderr).toContain('RUNNEL_RUNS_SLOTS is "0": expected a whole number from 1 to 10000');
  expect(outcome.stderr).toContain('RUNNEL_LOG_LEVEL is "loud": expected one of');
  expect(outcome.stderr).not.toContain("secret");
  const json = await runCommand(["serve", "--json"], { environment });
  expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 1, stdout: "" });
  expect(JSON.parse(json.stderr)).toMatchObject({
    reason: "CONFIG_INVALID",
    violations: expect.arrayContaining([{ field: "RUNNEL_RUNS_SLOTS", description: expect.any(String) }]),
  });
  expect(json.stderr).not.toContain("secret");
});

test.each(["serve", "dev", "migrate"])("%s names DATABASE_URL when the database cannot be reached", async (command) => {
  const url = databaseUrl("postgres://user:secret@127.0.0.1:1/", "runnel");
  const environment = { DATABASE_URL: url, RUNNEL_DEFAULTS_MODEL: "demo" };
  const outcome = await runCommand([command], { environment });
  expectOneLine(outcome);
  expect(outcome.stderr).toMatch(/ECONNREFUSED 127\.0\.0\.1:1.*check DATABASE_URL/);
  expect(outcome.stderr).not.toContain("secret");
});

const calls = [
  ["run", "hi"],
  ["tail", "01890000-0000-7000-8000-000000000000"],
  ["sessions", "list"],
  ["sessions", "purge", "some-session", "--yes"],
  ["schedules", "list"],
  ["callbacks", "list"],
  ["keys", "list"],
  ["providers"],
  ["usage"],
  ["jobs", "list"],
  ["jobs", "submit", "-"],
  ["jobs", "watch", "01890000-0000-7000-8000-000000000000"],
  ["receipt", "01890000-0000-7000-8000-000000000000"],
];

test.each(calls.map((words) => [words]))(
  "%j reports the address without a service and how to start one",
  async (words) => {
    const environment = { RUNNEL_ADMIN_TOKEN: "a token that nobody sees" };
    const { code, stdout, stderr } = await runCommand([...words, "--url", nobody], { environment });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^runnel: no service at http:\/\/127\.0\.0\.1:1 \([^\n]+\)\n {2}fix {6}start one with `runnel serve`/,
    );
    const json = await runCommand([...words, "--url", nobody, "--json"], { environment });
    expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({
      error: expect.stringContaining("no service at"),
      reason: "UNAVAILABLE",
      fix: expect.stringContaining("runnel serve"),
    });
  },
);

test("a server that is not Runnel is reported as such", async () => {
  await using server = await startPlainServer();
  await expectOtherServer(server.url);
});

test("a server that does not speak HTTP/2 is reported as such", async () => {
  const server = createTcpServer((socket) => socket.once("data", () => socket.end("HTTP/1.0 400 Bad Request\r\n\r\n")));
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  await expectOtherServer(url);
  expect((await runCommand(["usage", "--url", url])).stderr).toContain("does not speak HTTP/2 there");
});

async function expectOtherServer(url: string): Promise<void> {
  const { code, stderr } = await runCommand(["usage", "--url", url]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^runnel: (no service at|the server at) \S+ [^\n]+\n {2}fix {6}[^\n]+--url[^\n]+\n$/);
}

function expectOneLine({ code, stdout, stderr }: Outcome): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^runnel: [^\n]+\n$/);
}

/** Starts a server that speaks HTTP/2 and knows no route. */
async function startPlainServer(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer().on("stream", (stream) => {
    stream.respond({ ":status": 404 });
    stream.end();
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) {
        session.destroy();
      }
      server.close();
      await once(server, "close");
    },
  };
}
