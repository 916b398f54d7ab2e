// `serve`, `dev` and `migrate`: how they start, what they print, and how they end.

import { realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { type ConnectTransportOptions, createConnectTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { makeCertificates } from "../harness/certificates.ts";
import { emptyDatabase, testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";
import { ownFolder, pasteInto, runCommand, startCommand } from "./command.ts";

/** Without a provider `serve` starts only when the settings name the demo model explicitly. */
const demo = { RUNNEL_DEFAULTS_MODEL: "demo" };

test("a taken port is reported with the fix", async () => {
  const DATABASE_URL = await testDatabase();
  const { url } = await startProcess({ DATABASE_URL });
  const { port } = new URL(url);
  const { code, stdout, stderr } = await runCommand(["serve", "--port", port], {
    environment: { ...demo, DATABASE_URL, RUNNEL_LOG_LEVEL: "silent" },
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^runnel: port ${port} .*RUNNEL_SERVER_PORT.*\n$`));
});

test.each([
  // The longest drain: no call is open, so there is nothing to wait for.
  ["SIGINT", "3600"],
  // The sender gets a fifth of the drain to notice.
  ["SIGTERM", "2"],
] as const)("%s ends an idle service within two seconds, with 0", async (signal, drainSeconds) => {
  const serve = await startServe({ RUNNEL_SERVER_DRAIN_SECONDS: drainSeconds });
  const signalledMs = performance.now();
  serve.child.kill(signal);
  expect((await serve.ended).code).toBe(0);
  expect(performance.now() - signalledMs).toBeLessThan(2_000);
});

// The signal is sent again and again: within the first second it is a copy of the first one.
test("a second signal ends a service at once, even while it waits for an open call", async () => {
  const serve = await startServe({ RUNNEL_SERVER_DRAIN_SECONDS: "3600" });
  const socket = connect(serve.port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on("error", () => {});
  socket.write("POST /v1/sessions HTTP/1.1\r\nhost: runnel\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n");
  // The service asks for the body, which never comes: the call stays open.
  await new Promise((resolve) => socket.once("data", resolve));
  serve.child.kill("SIGINT");
  await until("the drain", () => refuses(serve.port));
  expect(serve.child.exitCode).toBeNull();
  await until("the end", () => !serve.child.kill("SIGINT"));
  expect((await serve.ended).code).toBe(130);
});

test("after SIGTERM a service is no longer ready but still answers for a while, so that load balancers notice", async () => {
  const serve = await startServe({ RUNNEL_SERVER_DRAIN_SECONDS: "10" });
  const url = `http://127.0.0.1:${serve.port}`;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  serve.child.kill("SIGTERM");
  await until("readiness to be off", async () => (await fetch(`${url}/readyz`)).status === 503);
  expect((await fetch(`${url}/version`)).status).toBe(200);
  expect((await serve.ended).code).toBe(0);
});

test.each([
  [{ RUNNEL_AUTH_API_KEYS: "" }, "missing required config: auth.hmac_secret, at least one provider key/url"],
  [{ RUNNEL_AUTH_API_KEYS: "", ...demo }, "missing required config: auth.hmac_secret"],
  [{}, "missing required config: at least one provider key/url"],
  [{ ...demo, RUNNEL_SERVER_PORT: "0" }, "server.port must be between 1 and 65535, got 0"],
  [{ ...demo, AGENT_RUNNER_DEFAULTS_TIMEOUT_SECS: "0" }, "defaults.timeout_secs must be positive, got 0"],
  [{ ...demo, AGENT_RUNNER_CALLBACK_TIMEOUT_SEC: "-1" }, "callback.timeout_sec must not be negative, got -1"],
  [{ ...demo, AGENT_RUNNER_SESSIONS_TTL_MINUTES: "0" }, "sessions.ttl_minutes must be positive, got 0"],
])("serve with %j refuses to start, with the message of the document", async (environment, words) => {
  const nothing = { DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const { code, stdout, stderr } = await runCommand(["serve", "--no-config"], {
    environment: { ...nothing, ...(environment as Record<string, string>) },
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.split("\n")[0]).toBe(`runnel: Invalid config: ${words}`);
  // A missing setting comes with a hint on the next line.
  expect(stderr.includes("`runnel dev`")).toBe(words.startsWith("missing"));
});

test("a file, the environment and the command line configure a service, in this order", async () => {
  const directory = await ownFolder();
  const file = "auth: {hmac_secret: of the file}\ndefaults: {model: demo}\nserver: {port: 1, reflection: true}\n";
  await writeFile(join(directory, "named.yaml"), file, { mode: 0o644 });
  const environment = { DATABASE_URL: await testDatabase(), RUNNEL_AUTH_API_KEYS: "", RUNNEL_SERVER_PORT: "2" };
  const words = [
    "serve",
    "--config",
    "named.yaml",
    "--port",
    "0",
    "--set",
    "retention.days=3",
    "--set",
    "log.level=warn",
  ];
  const serve = startCommand(words, { environment, directory });
  const url = await until("the service to serve", () => /serves on (http:\/\/\S+)/.exec(serve.stderr())?.[1]);
  expect(serve.stderr()).toContain("named.yaml holds secrets and can be read by others");
  // An empty variable does not override the file.
  const secret = { RUNNEL_API_KEY: "", RUNNEL_AUTH_HMAC_SECRET: "of the file" };
  expect((await runCommand(["run", "hello pace=0", "--url", url], { environment: secret })).code).toBe(0);
});

test("an account without a home directory has no file there", async () => {
  const directory = await ownFolder();
  await mkdir(join(directory, ".config", "agent-runner"), { recursive: true });
  await writeFile(join(directory, ".config", "agent-runner", "config.yaml"), "xyzzy: 1\n");
  const refused = (home: string) => runCommand(["serve"], { environment: { HOME: home }, directory });
  expect((await refused("")).stderr).not.toContain("xyzzy");
  expect((await refused(directory)).stderr).toContain("unknown key xyzzy");
});

test("a missing config file, or secrets among the arguments, keep every command from starting", async () => {
  for (const command of ["serve", "dev", "migrate"]) {
    const outcome = await runCommand([command, "--config", "nothing.yaml", "--set", "auth.hmac_secret=s3cret"]);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/Invalid config: .*config file \S+nothing\.yaml cannot be read \(ENOENT/);
    expect(outcome.stderr).toContain("--set auth.hmac_secret: arguments are seen by everybody on this machine");
    expect(outcome.stderr).not.toContain("s3cret");
  }
});

test("dev listens on loopback despite file and environment, and elsewhere only with authentication", async () => {
  const directory = await ownFolder();
  await writeFile(join(directory, "config.yaml"), "server: {host: 0.0.0.0}\nlog: {level: silent}\n");
  const environment = { DATABASE_URL: await testDatabase(), RUNNEL_SERVER_HOST: "0.0.0.0", RUNNEL_AUTH_API_KEYS: "" };
  const lineOf = async (words: readonly string[], more: Record<string, string> = {}): Promise<string> => {
    const place = { environment: { ...environment, ...more }, directory };
    const dev = startCommand(["dev", "--port", "0", ...words], place);
    await until("dev to print its lines", () => dev.stderr().includes("/stream\n"));
    dev.child.kill("SIGINT");
    await dev.ended;
    return dev.stderr();
  };
  const usual = await lineOf([]);
  expect(usual).toMatch(/^\s*Runnel is ready on http:\/\/127\.0\.0\.1:/);
  expect(usual).toMatch(/callers +on this machine need no credentials/);
  expect(usual).toContain(`files    ${realpathSync(directory)}`);
  for (const words of [
    ["--host", "127.0.0.2"],
    ["--set", "server.host=127.0.0.2"],
  ]) {
    const said = await lineOf(words, { RUNNEL_AUTH_HMAC_SECRET: "a secret of this test" });
    expect(said).toMatch(/^\s*Runnel is ready on http:\/\/127\.0\.0\.2:/);
    expect(said).toMatch(/callers +need credentials/);
    expect(said).toContain("files    each session has a directory of its own");
    const { code, stderr } = await runCommand(["dev", "--port", "0", ...words], { environment, directory });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /any client that reaches 127\.0\.0\.2 could call without credentials: set RUNNEL_AUTH_API_KEYS/,
    );
  }
});

test("serve logs which directories sessions may name", async () => {
  const pathsWith = async (list: string): Promise<unknown> => {
    const { log } = await startProcess({ DATABASE_URL: await testDatabase(), RUNNEL_SESSIONS_WORK_DIRS: list });
    const line = await until("the line", () =>
      log()
        .split("\n")
        .find((each) => each.includes("directories.listed")),
    );
    return JSON.parse(line).paths;
  };
  expect(await pathsWith("")).toEqual([]);
  expect(await pathsWith("/srv/a,/srv/{client}")).toEqual(["/srv/a", "/srv/{client}"]);
});

test("the names of the Agent Runner document work", async () => {
  const serve = await startServe({
    RUNNEL_AUTH_API_KEYS: "",
    AGENT_RUNNER_AUTH_HMAC_SECRET: "a secret of the document",
    AGENT_RUNNER_DEFAULTS_MODEL: "demo",
    AGENT_RUNNER_CALLBACK_BASE_URL: "https://app.example",
  });
  const unsigned = await fetch(`http://127.0.0.1:${serve.port}/v1/sessions`);
  expect([unsigned.status, await unsigned.json()]).toEqual([401, { error: "missing signature, timestamp, or nonce" }]);
  const run = await runCommand(["run", "hello pace=0", "--url", `http://127.0.0.1:${serve.port}`], {
    environment: { RUNNEL_API_KEY: "", RUNNEL_AUTH_HMAC_SECRET: "a secret of the document" },
  });
  expect(run.code).toBe(0);
});

test("HTTP/2 may have a port of its own, and both ports speak TLS", async () => {
  const folder = await ownFolder();
  const { ca, server } = await makeCertificates();
  const [certFile, keyFile, caFile] = ["cert.pem", "key.pem", "ca.pem"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([writeFile(certFile, server.cert), writeFile(keyFile, server.key), writeFile(caFile, ca)]);
  const serve = startCommand(["serve", "--port", "0"], {
    environment: {
      ...demo,
      DATABASE_URL: await testDatabase(),
      RUNNEL_SERVER_H2_PORT: "0",
      AGENT_RUNNER_TLS_CERT_FILE: certFile,
      RUNNEL_TLS_KEY_FILE: keyFile,
    },
  });
  const announced = /serves on (https:\/\/\S+) and, for HTTP\/2, (https:\/\/\S+)/;
  const [, h1Url = "", h2Url = ""] = await until("both ports", () => announced.exec(serve.stderr()) ?? undefined);
  const versionOf = (httpVersion: "1.1" | "2", baseUrl: string) =>
    createClient(
      SystemService,
      createConnectTransport({ httpVersion, baseUrl, nodeOptions: { ca } } as ConnectTransportOptions),
    ).getVersion({});
  expect((await versionOf("1.1", h1Url)).version).toMatch(/^\d/);
  expect((await versionOf("2", h2Url)).version).toMatch(/^\d/);
  await expect(versionOf("1.1", h2Url)).rejects.toThrow();
  await expect(versionOf("2", h1Url)).rejects.toThrow();
  const environment = { NODE_EXTRA_CA_CERTS: caFile };
  expect((await runCommand(["run", "hello pace=0 words=3", "--url", h2Url], { environment })).code).toBe(0);
  expect(await runCommand(["run", "hello", "--url", h1Url], { environment })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/does not speak HTTP\/2 there\n {2}fix {6}.*server\.h2_port/),
  });
});

test("with a client CA, only clients with its certificates are served", async () => {
  const folder = await ownFolder();
  const { ca, server, client, strangerClient } = await makeCertificates();
  const files = { cert: server.cert, key: server.key, ca };
  const paths = Object.fromEntries(Object.keys(files).map((name) => [name, join(folder, `${name}.pem`)]));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, `${name}.pem`), text)));
  const serve = startCommand(["serve", "--port", "0"], {
    environment: {
      ...demo,
      DATABASE_URL: await testDatabase(),
      RUNNEL_TLS_CERT_FILE: paths.cert ?? "",
      RUNNEL_TLS_KEY_FILE: paths.key ?? "",
      RUNNEL_TLS_CLIENT_CA_FILE: paths.ca ?? "",
    },
  });
  const baseUrl = await until("the port", () => /serves on (https:\/\/\S+)/.exec(serve.stderr())?.[1]);
  const ask = (certificate: object) =>
    createClient(
      SystemService,
      createConnectTransport({ httpVersion: "1.1", baseUrl, nodeOptions: { ca, ...certificate } }),
    ).getVersion({});
  expect((await ask(client)).version).toMatch(/^\d/);
  await expect(ask({})).rejects.toThrow();
  await expect(ask(strangerClient)).rejects.toThrow();
});

test.each([
  [{ RUNNEL_TLS_CERT_FILE: "/nowhere/cert.pem" }, "tls: both cert_file and key_file must be set, or neither"],
  [
    { RUNNEL_TLS_CERT_FILE: "/nowhere/cert.pem", RUNNEL_TLS_KEY_FILE: "/nowhere/key.pem" },
    "tls cert_file not readable: ENOENT",
  ],
  [{ RUNNEL_TLS_CLIENT_CA_FILE: "/nowhere/ca.pem" }, "tls: client_ca_file needs cert_file and key_file"],
])("%j is reported before the service starts", async (environment, problem) => {
  const DATABASE_URL = await testDatabase();
  const { code, stderr } = await runCommand(["serve", "--port", "0"], {
    environment: { ...demo, DATABASE_URL, RUNNEL_LOG_LEVEL: "silent", ...environment },
  });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`runnel: Invalid config: ${problem}`) });
});

test("the REST surface describes itself", async () => {
  const { port } = await startServe({});
  const described = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  expect(described.headers.get("content-type")).toBe("application/json");
  expect(await described.json()).toMatchObject({ openapi: "3.1.0", paths: { "/v1/sessions": { post: {} } } });
});

test.each([
  [["migrate"], /^(applied \d\S+\n)+$/, /^up to date\n$/],
  [["migrate", "--json"], /^\{\s*"applied":\s*\[\s*"0001_/, /^\{\s*"applied":\s*\[\]\s*\}\n$/],
])("%j prints the applied migrations, and then that there is nothing to do", async (words, first, second) => {
  const environment = { DATABASE_URL: await emptyDatabase() };
  for (const stdout of [first, second]) {
    const printed = { code: 0, stdout: expect.stringMatching(stdout), stderr: "" };
    expect(await runCommand(words, { environment })).toEqual(printed);
  }
});

test.each<[string, "bash" | "sh", () => Promise<string>]>([
  ["bash, whatever the folder is called", "bash", async () => await makeFolder(`${await ownFolder()}/it's "here"`)],
  ["sh, in an empty folder", "sh", async () => await ownFolder()],
  ["bash, in a checkout of the service, where no agent works", "bash", async () => process.cwd()],
])("the lines that dev prints work as pasted twice into %s", async (_where, shell, openFolder) => {
  const environment = { DATABASE_URL: await testDatabase(), RUNNEL_AUTH_API_KEYS: "" };
  const dev = startCommand(["dev", "--port", "0"], { environment, directory: await openFolder() });
  await until("dev to print its lines", () => dev.stderr().includes("/stream\n"));
  const lines = dev
    .stderr()
    .split("\n")
    .filter((line) => line.includes("curl "));
  expect(lines).toHaveLength(3);
  const pasted = `${lines.join("\n")}\n`;
  const { code, stdout, stderr } = await pasteInto(shell, pasted + pasted);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const event of ["tool_call", "tool_result", "done"]) {
    expect(stdout.split(`\nevent: ${event}\n`)).toHaveLength(3);
  }
  expect(stdout.split("\nevent: text\n").length).toBeGreaterThan(4);
  expect(stdout).not.toMatch(/error|already exists|not found/i);
  dev.child.kill("SIGINT");
  expect((await dev.ended).code).toBe(0);
});

async function makeFolder(path: string): Promise<string> {
  await mkdir(path);
  return path;
}

async function startServe(environment: Readonly<Record<string, string>>) {
  const serve = startCommand(["serve", "--port", "0"], {
    environment: { ...demo, DATABASE_URL: await testDatabase(), RUNNEL_DATABASE_POOL_SIZE: "4", ...environment },
  });
  const url = await until("the service to serve", () => /serves on (http:\/\/\S+)/.exec(serve.stderr())?.[1]);
  return { ...serve, port: Number(new URL(url).port) };
}

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", () => resolve(true));
  });
}
