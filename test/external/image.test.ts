// The image starts with the files from the Dockerfile, as its user, on a read-only root, and ends on SIGTERM.

import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandOf } from "../deploy/dockerfile.ts";
import { authEnvironment, credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { readSse } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { openWire, wireToDatabase } from "../harness/wire.ts";
import { buildImage, type Container, type ContainerOptions, commandOfImage, type Image } from "./image.ts";

/** npm downloads the packages once more. */
const buildTimeoutMs = 300_000;
const startMaxMs = 60_000;
const commit = "0123456789abcdef0123456789abcdef01234567";

const root = mkdtempSync(join(tmpdir(), "runnel-image-"));
let image: Image;
beforeAll(async () => {
  image = await buildImage(root, { COMMIT: commit });
}, buildTimeoutMs);
afterAll(() => rm(root, { recursive: true }));

test("built and started, it serves a run, shows its health and its commit, and SIGTERM ends it with 0", async () => {
  const { service, port, url } = await startImage({ environment: { RUNNEL_METRICS_PORT: "0" } });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: credentialsOf(),
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  // It writes files, so they have a writable folder.
  const agent = { name: "a", tools: { builtin: ["list_dir"] } };
  expect(await post("/v1/sessions", { session_id: "s", agent })).toBe(201);
  expect(await post("/v1/sessions/s/messages", { message: "list the files pace=0" })).toBe(202);
  const events = await Array.fromAsync(readSse(`${url}/v1/sessions/s/stream`));
  expect(events.map(({ event }) => event)).toContain("tool_result");
  expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ status: "completed" });
  expect(await readdir(service.volume)).toEqual(["work"]);

  const metricsPort = /"metricsPort":(\d+)/.exec(service.stderr())?.[1];
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain(`commit="${commit}"`);

  const isHealthy = async (): Promise<boolean> => {
    const environment = { RUNNEL_SERVER_PORT: port };
    const health = await image.start(commandOf("HEALTHCHECK"), { environment });
    return (await health.finished).exitCode === 0;
  };
  expect(await isHealthy()).toBe(true);
  await service.signal("SIGTERM");
  expect(await service.finished).toMatchObject({ exitCode: 0 });
  expect(await isHealthy()).toBe(false);
});

test("without a database it explains how to set one, and ends", async () => {
  const environment = { ...authEnvironment, RUNNEL_DEFAULTS_MODEL: "demo" };
  const container = await image.start(commandOfImage(), { environment });
  const { exitCode, stderr } = await container.finished;
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Set DATABASE_URL=");
});

test("commands of agents are refused while the engine covers /proc, and jailed once it does not", async () => {
  const sendForBash = async (isProcWhole: boolean): Promise<string> => {
    const { service, url } = await startImage({ isProcWhole });
    const call = async (path: string, body: object): Promise<string> => {
      const init = { method: "POST", headers: credentialsOf(), body: JSON.stringify(body) };
      return await (await fetch(`${url}/v1/sessions${path}`, init)).text();
    };
    await call("", { session_id: "s", agent: { name: "a", tools: { builtin: ["bash"] } } });
    const answer = await call("/s/messages", { message: "hello pace=0" });
    await service.signal("SIGTERM");
    expect(await service.finished).toMatchObject({ exitCode: 0 });
    return answer;
  };
  expect(await sendForBash(false)).toContain("there is no jail to run commands in");
  expect(await sendForBash(true)).toContain('"tools_registered":["bash"]');
});

async function startImage({ environment, ...options }: ContainerOptions) {
  const service = await image.start([...commandOfImage(), "--port", "0"], {
    ...options,
    environment: {
      ...authEnvironment,
      RUNNEL_DATABASE_URL: await databaseOnTheNetwork(),
      RUNNEL_DEFAULTS_MODEL: "demo",
      RUNNEL_SERVER_DRAIN_SECONDS: "1",
      ...environment,
    },
  });
  const ended = service.finished.then(({ stderr }) => Promise.reject(new Error(stderr)));
  const port = await Promise.race([portOf(service), ended]);
  // From here on it may end.
  ended.catch(() => {});
  return { service, port, url: `http://127.0.0.1:${port}` };
}

/** The tests' Postgres listens on a socket that only its own user may use. */
async function databaseOnTheNetwork(): Promise<string> {
  const { connectFar, urlAt } = wireToDatabase(await testDatabase());
  return urlAt(await openWire({ connectFar }));
}

/** Resolves once it serves. */
async function portOf(service: Container): Promise<string> {
  return await until(
    "the service to serve",
    () => /serves on http:\/\/\S+:(\d+)/.exec(service.stderr())?.[1],
    startMaxMs,
  );
}
