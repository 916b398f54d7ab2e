// nginx in front of the service, with the configuration from docs/deployment.md: streams arrive as they happen, over SSE and
// gRPC, and unary calls of every protocol pass.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { create, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { readSession, setStage, startConversation } from "../conformance/stage.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { metadataOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { asClient, curl, startCurl } from "./curl.ts";
import { runProgram, startProgram } from "./program.ts";

const origin = "https://runnel.example";

test("streams pass as they happen, and calls of every protocol arrive", async () => {
  const { service, provider, api } = await setStage(findSurface("REST"));
  const going = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("first words");
    await going.promise;
    wire.text(", last words");
    wire.done("stop");
  });
  const { socket } = await startNginx(service.target);
  const { sessionId, runId } = await startConversation(api);

  const through = ["--unix-socket", socket, "--insecure", ...asClient()];
  const overSse = startCurl([...through, `${origin}/v1/sessions/${sessionId}/stream`]);
  const nodeOptions = {
    createConnection: () => connect({ path: socket, ALPNProtocols: ["h2"], rejectUnauthorized: false }),
  };
  const client = createClient(RunService, createGrpcTransport({ baseUrl: origin, nodeOptions }));
  const types: string[] = [];
  const overGrpc = (async () => {
    for await (const { results } of client.tailRun({ runId }, { headers: credentialsOf() })) {
      types.push(...results.map(({ payload }) => payload.case ?? ""));
    }
  })();
  await until("the first words over SSE", () => overSse.stdout().includes("first words"));
  await until("the first words over gRPC", () => types.includes("messageDelta"));
  going.resolve();
  await overGrpc;
  expect(types.at(-1)).toBe("runCompleted");
  expect((await overSse.finished).stdout.toString()).toContain("\nevent: done\n");
  await readSession(api, sessionId);

  const asJson = ["--header", "content-type: application/json", "--data", JSON.stringify({ runId })];
  for (const version of ["--http1.1", "--http2"]) {
    const byConnect = await curl([...through, version, ...asJson, `${origin}/runnel.v1.RunService/GetRun`]);
    expect(JSON.parse(byConnect.body.toString()).run).toMatchObject({ runId, state: "STATE_COMPLETED" });
  }
  const { run } = await client.getRun({ runId }, { headers: credentialsOf() });
  expect(run?.runId).toBe(runId);
});

// The reference client reads the methods through nginx by reflection, and calls each through nginx and directly. Without
// credentials nothing changes, and the refusal has the service's reason, which a proxy cannot make up.
test("every method that reflection lists gives a gRPC client the same answer through nginx as without it", async () => {
  const { service } = await setStage(findSurface("REST"));
  const { socket, ca } = await startNginx(service.target);
  const through = openClient(`unix:${socket}`, credentials.createSsl(ca));
  const direct = openClient(service.target, credentials.createInsecure());
  const methods = await listMethods(through);
  const packages = new Set(methods.map(({ path }) => path.replace(/\.\w+\/\w+$/, "")));
  expect([...packages]).toEqual(
    expect.arrayContaining(["/runnel.v1", "/runnel.host.v1", "/grpc.health.v1", "/grpc.reflection.v1"]),
  );
  for (const method of methods) {
    const [answer, expected] = await Promise.all([callEmpty(through, method), callEmpty(direct, method)]);
    expect({ ...method, ...answer }).toEqual({ ...method, ...expected });
    expect(expected.code).not.toBe(status.UNIMPLEMENTED);
  }
});

function openClient(target: string, channelCredentials: ReturnType<typeof credentials.createSsl>): Client {
  const client = new Client(target, channelCredentials, {
    "grpc.ssl_target_name_override": "localhost",
    "grpc.default_authority": "runnel.example",
  });
  onTestFinished(() => client.close());
  return client;
}

interface ListedMethod {
  /** As in `/runnel.v1.RunService/GetRun`. */
  readonly path: string;
  readonly isStream: boolean;
}

/** All methods of all services, from the descriptors that reflection sends. */
async function listMethods(client: Client): Promise<ListedMethod[]> {
  const listed = await reflect(client, { messageRequest: { case: "listServices", value: "*" } });
  const { service = [] } = listed.case === "listServicesResponse" ? listed.value : {};
  const methods = await Promise.all(service.map(({ name }) => listMethodsOf(client, name)));
  return methods.flat();
}

async function listMethodsOf(client: Client, service: string): Promise<ListedMethod[]> {
  const found = await reflect(client, { messageRequest: { case: "fileContainingSymbol", value: service } });
  const { fileDescriptorProto = [] } = found.case === "fileDescriptorResponse" ? found.value : {};
  const files = fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  const described = files
    .flatMap((file) => file.service.map(({ name, method }) => ({ name: `${file.package}.${name}`, method })))
    .find(({ name }) => name === service);
  return (described ?? expect.unreachable(`no descriptor of ${service}`)).method.map((method) => ({
    path: `/${service}/${method.name}`,
    isStream: method.serverStreaming,
  }));
}

type ReflectionRequest = MessageInitShape<typeof ServerReflection.method.serverReflectionInfo.input>;
type ReflectionAnswer = MessageShape<typeof ServerReflection.method.serverReflectionInfo.output>["messageResponse"];

function reflect(client: Client, request: ReflectionRequest): Promise<ReflectionAnswer> {
  const { input, output } = ServerReflection.method.serverReflectionInfo;
  const stream = client.makeBidiStreamRequest<ReflectionRequest, Uint8Array>(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    (message) => Buffer.from(toBinary(input, create(input, message))),
    (bytes) => bytes,
    metadataOf(credentialsOf()),
  );
  return new Promise((resolve, reject) => {
    stream.on("data", (bytes: Uint8Array) => {
      resolve(fromBinary(output, bytes).messageResponse);
      stream.end();
    });
    stream.on("error", reject);
    stream.write(request);
  });
}

interface CallEnd {
  readonly code: number;
  readonly details: string;
  /** They contain the reason of the service. */
  readonly statusDetails: readonly string[];
}

/** The end of a call with an empty request. */
function callEmpty(client: Client, { path, isStream }: ListedMethod): Promise<CallEnd> {
  const asBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
  const call = client.makeBidiStreamRequest(path, asBytes, asBytes, new Metadata());
  return new Promise((resolve) => {
    call.on("data", () => {
      // One response of an endless stream is enough, for instance of the health watch.
      if (isStream) {
        call.cancel();
      }
    });
    call.on("error", () => {});
    call.on("status", ({ code, details, metadata }: StatusObject) => {
      resolve({ code, details, statusDetails: metadata.get("grpc-status-details-bin").map(String) });
    });
    call.write(new Uint8Array());
    call.end();
  });
}

interface Nginx {
  readonly socket: string;
  readonly ca: Buffer;
}

/** Starts nginx in the foreground, on a socket of its own. */
async function startNginx(target: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-nginx-"));
  const [socket, certificate, key, file] = ["nginx.sock", "cert.pem", "key.pem", "nginx.conf"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const { ca, server } = await makeCertificates();
  await Promise.all([writeFile(certificate, server.cert), writeFile(key, server.key)]);
  const page = await readFile(new URL("../../docs/deployment.md", import.meta.url), "utf8");
  const [, lines = ""] = /```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  const { stderr: version } = await runProgram("nginx", ["-v"]);
  const replacements: readonly (readonly [string, string])[] = [
    ["server 127.0.0.1:8090;", `server ${target};`],
    ["/etc/ssl/runnel.pem", certificate],
    ["/etc/ssl/runnel-key.pem", key],
    ...(/nginx\/1\.(\d|1\d|2[0-4])\./.test(version)
      ? ([
          ["listen 443 ssl;", `listen unix:${socket} ssl http2;`],
          ["  http2 on;", "  "],
        ] as const)
      : ([["listen 443 ssl;", `listen unix:${socket} ssl;`]] as const)),
  ];
  const site = replacements.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replaceAll(from, to);
  }, lines);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  // One process, as the user who runs the test.
  const head = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\n`;
  await writeFile(file, `${head}http {\naccess_log off;\n${places}\n${site}\n}`);
  const nginx = startProgram("nginx", ["-c", file, "-e", "stderr"]);
  onTestFinished(async () => {
    process.kill(nginx.pid, "SIGTERM");
    await nginx.finished;
    await rm(folder, { recursive: true });
  });
  const isThere = async (): Promise<boolean> =>
    (await curl(["--unix-socket", socket, "--insecure", `${origin}/livez`]).catch(() => undefined))?.status === 200;
  await until("nginx to pass calls on", isThere).catch(() => {
    throw new Error(nginx.stderr());
  });
  return { socket, ca: Buffer.from(ca) };
}
