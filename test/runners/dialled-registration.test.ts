// Registration of dialled runners by their address: what the service requests there, what it stores, and which addresses it
// never dials.

import { status } from "@grpc/grpc-js";
import { describe, expect } from "vitest";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { listenRaw } from "../egress/internet.ts";
import { type FakeRunner, openFakeRunner } from "../fakes/dialled-runner.ts";
import { test } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { runnerOf, testRunnerId } from "../harness/worker.ts";
import { closedPort, finish, openDialler, openStage, register } from "./dialled-stage.ts";
import { getRun, readLog, start } from "./hand-worker.ts";

const otherId = "plugin:tests/bench/other";
const manifestOf = (id: string): string => JSON.stringify(runnerOf(async function* () {}, { id }).manifest);

async function listIds(client: GrpcClient): Promise<string[]> {
  const { runners } = await client.call(RunnerService.method.listRunners, {});
  return runners.map(({ runnerId }) => runnerId);
}

test("the listed runners are registered, each with a verdict, and are available at the address", async () => {
  const { client } = await openDialler();
  const runner = await openFakeRunner(finish);
  runner.manifests = [manifestOf(testRunnerId), "{}", manifestOf(otherId), manifestOf(otherId)];
  runner.era = "ledger";
  const { verdicts } = await register(client, runner.url);
  expect(verdicts.map(({ accepted, code }) => (accepted ? "accepted" : code))).toEqual([
    "accepted",
    "invalid_argument",
    "accepted",
    "already_exists",
  ]);
  const { runners } = await client.call(RunnerService.method.listRunners, {});
  expect(runners.map(({ runnerId, url, era, state }) => ({ runnerId, url, era, state }))).toEqual(
    [testRunnerId, otherId].map((runnerId) => ({
      runnerId,
      url: runner.url,
      era: "ledger",
      state: Runner_State.AVAILABLE,
    })),
  );
});

test("a runner belongs to its worker id, and the last registration decides how it is reached", async () => {
  const { client, runner, databaseUrl } = await openStage(finish, { credential: "word" });
  const { verdicts } = await client.call(RunnerService.method.registerRunners, {
    workerId: "somebody",
    manifests: [manifestOf(testRunnerId)],
  });
  expect(verdicts).toMatchObject([{ accepted: false, code: "permission_denied" }]);
  const again = { workerId: "dialled", manifests: [manifestOf(testRunnerId)] };
  await client.call(RunnerService.method.registerRunners, again);
  expect(await query(databaseUrl, "select url, credential from runner")).toEqual([{ url: null, credential: null }]);
  await register(client, runner.url, "word");
  expect(await query(databaseUrl, "select url, credential from runner")).toEqual([
    { url: runner.url, credential: "word" },
  ]);
});

type Prepare = (runner: FakeRunner) => Promise<{ url?: string; credential?: string }>;
const having =
  (list: object): Prepare =>
  async (runner) => {
    Object.assign(runner, list);
    return {};
  };

test.for<[what: string, fix: string, prepare: Prepare]>([
  [
    "the runner is not listening",
    "connection refused. To fix it: check that the runner listens there",
    async () => ({ url: `http://127.0.0.1:${await closedPort()}` }),
  ],
  [
    "the credential is wrong",
    "that is not the word. To fix it: register with the credential",
    async () => ({ credential: "the-wrong-word" }),
  ],
  [
    "another protocol answers",
    "speaks gRPC over HTTP/2",
    async () => ({ url: `http://127.0.0.1:${await listenRaw((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"))}` }),
  ],
  ["it has too many runners", "at most 100", having({ manifests: Array.from({ length: 101 }, () => "{}") })],
  ["it has an unknown era", "use spec, ledger or 4.11", having({ era: "9" })],
])("a list that cannot be fetched changes nothing, and its error names the fix: when %s", async ([, fix, prepare]) => {
  const { client, runner } = await openStage(finish, { credential: "the-right-word" });
  const { url = runner.url, credential = "the-right-word" } = await prepare(runner);
  const error = await register(client, url, credential).catch((thrown) => thrown);
  expect([reasonOf(error), error.code]).toEqual(["RUNNER_UNREACHABLE", status.UNAVAILABLE]);
  expect(error.details).toContain(fix);
  expect(error.details).not.toContain("the-wrong-word");
  expect(await listIds(client)).toEqual([testRunnerId]);
});

test("an empty list is valid, and removes no runner", async () => {
  const { client, runner } = await openStage(finish);
  runner.manifests = [];
  expect((await register(client, runner.url)).verdicts).toEqual([]);
  expect(await listIds(client)).toEqual([testRunnerId]);
});

test.for([
  ["manifests beside a url", { url: "http://127.0.0.1:9/", manifests: ["{}"] }],
  ["an era beside a url", { url: "http://127.0.0.1:9/", era: "spec" }],
  ["a credential without a url", { credential: "word" }],
  ["a credential that is not a header value", { url: "http://127.0.0.1:9/", credential: "two words" }],
  ["a url with a query", { url: "http://127.0.0.1:9/?key=1" }],
  ["a url with a password", { url: "http://user:word@127.0.0.1:9/" }],
  ["an invalid URL", { url: "runner" }],
] as const)("%s is refused", async ([, request]) => {
  const { client } = await openDialler();
  const call = client.call(RunnerService.method.registerRunners, { workerId: "w", ...request } as object);
  expect(await call.catch(({ code }) => code)).toBe(status.INVALID_ARGUMENT);
});

describe("a private address is not dialled", () => {
  test("when it is registered", async ({ client }) => {
    const runner = await openFakeRunner(finish);
    const error = await register(client, runner.url).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(error.details).toContain("private IP runners are not allowed");
    const named = await register(client, runner.url.replace("127.0.0.1", "localhost")).catch((thrown) => thrown);
    expect(named.details).toContain("localhost runners are not allowed");
    expect(runner.connections).toBe(0);
  });

  test("for a run, after the setting no longer allows it", async () => {
    const first = await openStage(finish);
    await first.close();
    const { connections } = first.runner;
    const service = await startService({ databaseUrl: first.databaseUrl });
    const client = new GrpcClient(service.target);
    const runId = await start(client);
    await readLog(client, runId);
    expect(await getRun(client, runId)).toMatchObject({ failureCode: "runner.unavailable" });
    expect(first.runner.connections).toBe(connections);
  });
});

test("the credential is sent, never shown, and deleted from the run when it is dialled", async () => {
  const word = "word-that-nobody-shows";
  const { client, runner, url, databaseUrl } = await openStage(finish, { credential: word });
  const runId = await start(client);
  await readLog(client, runId);
  expect(runner.calls[0]?.headers.get("authorization")).toBe(`Bearer ${word}`);
  const rows = await query<{ url: string; credential: string }>(databaseUrl, "select url, credential from remote_run");
  expect(rows).toEqual([{ url: runner.url, credential: null }]);
  for (const path of ["/v1/runners", "/v1/runners/tests/bench/echo", `/v1/runs/${runId}`]) {
    const response = await fetch(url + path, { headers: { authorization: "Bearer key-of-local-for-tests" } });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain(word);
  }
});

test("a run is dialled at the address that its runner had when the run started", async () => {
  const { client, runner, databaseUrl } = await openStage(finish, { credential: "old" });
  const other = await openFakeRunner(finish);
  const runId = await start(client);
  await register(client, other.url, "new");
  await readLog(client, runId);
  expect(await query(databaseUrl, "select url from remote_run")).toEqual([{ url: runner.url }]);
  expect([runner.calls.length, other.calls.length]).toEqual([1, 0]);
  await readLog(client, await start(client, { conversationId: "c-2" }));
  expect([runner.calls.length, other.calls.length]).toEqual([1, 1]);
});
