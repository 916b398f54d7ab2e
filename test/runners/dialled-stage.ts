// A service that may dial this machine, a runner that it dials, and events for it.

import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { onTestFinished } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { type Act, type FakeRunner, openFakeRunner, type Said, sayDone } from "../fakes/dialled-runner.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { listenLocally } from "../harness/listen.ts";
import { startProcess } from "../harness/process.ts";
import { startService, type TestService } from "../harness/service.ts";
import { bind } from "./hand-worker.ts";

export const mayDial: Partial<Config> = { securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] };

export interface DialledStage extends TestService {
  readonly client: GrpcClient;
}

/** Starts the service without a runner. */
export async function openDialler(flags: Partial<Config> = {}): Promise<DialledStage> {
  const service = await startService({ ...mayDial, ...flags });
  const client = new GrpcClient(service.target);
  await bind(client);
  return { ...service, client };
}

export async function openStage(
  act: Act,
  { credential, ...flags }: Partial<Config> & { readonly credential?: string } = {},
): Promise<DialledStage & { readonly runner: FakeRunner }> {
  const stage = await openDialler(flags);
  const runner = await openFakeRunner(act);
  runner.credential = credential;
  await register(stage.client, runner.url, credential);
  return { ...stage, runner };
}

/** A runner that completes without output. */
export async function* finish(): AsyncGenerator<Said> {
  yield sayDone();
}

export async function register(client: GrpcClient, url: string, credential = "", workerId = "dialled") {
  return await client.call(RunnerService.method.registerRunners, { workerId, url, credential });
}

/** The same with the service in a separate process. */
export async function openProcessStage(act: Act) {
  const environment = {
    RUNNEL_DATABASE_URL: await testDatabase(),
    RUNNEL_SECURITY_CALLBACK_ALLOW: mayDial.securityCallbackAllow?.join(",") ?? "",
  };
  const service = await startProcess(environment);
  const client = new GrpcClient(service.target);
  await bind(client);
  const runner = await openFakeRunner(act);
  await register(client, runner.url);
  return { ...service, environment, client, runner };
}

/** Blocks writes of results until the returned function is called. */
export async function holdResults(databaseUrl: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query("begin; lock table run_result in share mode");
  let held: Promise<void> | undefined;
  const release = (): Promise<void> => {
    held ??= holder.end();
    return held;
  };
  onTestFinished(release);
  return release;
}

/** An HTTP/2 server that answers as given; returns its URL. */
export async function listenHttp2(onStream: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    onStream(stream);
  });
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

/** A port without a listener. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
