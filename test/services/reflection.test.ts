// Server reflection, both versions: with the reference client question by question, and with buf as people use it. Only callers
// of a service with valid credentials get answers.

import { getEventListeners } from "node:events";
import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  getOption,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Client, type ClientDuplexStream, credentials, status as grpcStatus, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { http } from "#gen/google/api/annotations_pb.js";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { file_runnel_options_v1_options } from "#gen/runnel/options/v1/options_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { runCommand } from "../../scripts/run-command.ts";
import { createReflectionService } from "../../src/api/reflection/reflection-service.ts";
import { messageBytesMax } from "../../src/platform/config/limits.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { metadataOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { type RpcServer, startRpcServer } from "./rpc-server.ts";

const services = [SessionService, RunService, SystemService, Health, ServerReflection, ServerReflectionV1Alpha];
const serviceNames = services.map(({ typeName }) => typeName).toSorted();
const versions = [ServerReflection, ServerReflectionV1Alpha] as const;

describe.each(versions)("$typeName", (version) => {
  test("lists the services", async () => {
    const stream = await openReflection(version);
    const { messageResponse } = await stream.ask({ messageRequest: { case: "listServices", value: "*" } });
    expect(messageResponse.case).toBe("listServicesResponse");
    const { service } = messageResponse.value as { service: { name: string }[] };
    expect(service.map(({ name }) => name)).toEqual(serviceNames);
  });

  test("repeats the request and its host", async () => {
    const stream = await openReflection(version);
    const messageRequest = { case: "fileContainingSymbol", value: "runnel.v1.Run" } as const;
    const answer = await stream.ask({ host: "runnel.example", messageRequest });
    expect(answer.validHost).toBe("runnel.example");
    expect(answer.originalRequest).toMatchObject({ host: "runnel.example", messageRequest });
  });

  test.each([
    ["fileByFilename", "runnel/v1/run_service.proto", "runnel/v1/run_service.proto"],
    ["fileByFilename", "buf/validate/validate.proto", "buf/validate/validate.proto"],
    ["fileContainingSymbol", "runnel.v1.RunService", "runnel/v1/run_service.proto"],
    ["fileContainingSymbol", "runnel.v1.RunService.TailRun", "runnel/v1/run_service.proto"],
    ["fileContainingSymbol", "runnel.v1.Run", "runnel/v1/run.proto"],
    ["fileContainingSymbol", "runnel.v1.Run.run_id", "runnel/v1/run.proto"],
    ["fileContainingSymbol", "runnel.v1.Run.State", "runnel/v1/run.proto"],
    ["fileContainingSymbol", "runnel.v1.Run.STATE_QUEUED", "runnel/v1/run.proto"],
    ["fileContainingSymbol", "runnel.v1.RunResult.payload", "runnel/v1/result.proto"],
    ["fileContainingSymbol", "runnel.options.v1.rest", "runnel/options/v1/options.proto"],
    ["fileContainingSymbol", "google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
  ] as const)("%s finds %s in %s", async (kind, name, path) => {
    const stream = await openReflection(version);
    const [first] = filesIn(await stream.ask({ messageRequest: { case: kind, value: name } }));
    expect(first?.name).toBe(path);
  });

  test("finds an extension by its number, and all extension numbers of a message", async () => {
    const stream = await openReflection(version);
    const extension = { containingType: "google.protobuf.MethodOptions", extensionNumber: 72_295_728 };
    const answer = await stream.ask({ messageRequest: { case: "fileContainingExtension", value: extension } });
    expect(filesIn(answer)[0]?.name).toBe("google/api/annotations.proto");

    const numbers = await stream.ask({
      messageRequest: { case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" },
    });
    expect(numbers.messageResponse).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: {
        baseTypeName: "google.protobuf.MethodOptions",
        extensionNumber: [...methodOptions, 72_295_728],
      },
    });

    const none = await stream.ask({ messageRequest: { case: "allExtensionNumbersOfType", value: "runnel.v1.Run" } });
    expect(none.messageResponse).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: { baseTypeName: "runnel.v1.Run", extensionNumber: [] },
    });
  });

  test.each([
    { case: "fileByFilename", value: "runnel/v1/none.proto" },
    { case: "fileContainingSymbol", value: "runnel.v1.None" },
    { case: "fileContainingSymbol", value: "" },
    { case: "fileContainingExtension", value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 } },
    { case: "fileContainingExtension", value: { containingType: "runnel.v1.None", extensionNumber: 51_002 } },
    { case: "allExtensionNumbersOfType", value: "runnel.v1.None" },
  ] as const)("an unknown name gives an error response, and the stream continues: %j", async (messageRequest) => {
    const stream = await openReflection(version);
    const answer = await stream.ask({ messageRequest });
    expect(answer.messageResponse).toMatchObject({
      case: "errorResponse",
      value: { errorCode: grpcStatus.NOT_FOUND, errorMessage: expect.stringContaining("not found") },
    });
    const next = await stream.ask({ messageRequest: { case: "listServices", value: "" } });
    expect(next.messageResponse.case).toBe("listServicesResponse");
  });

  test("a request without a question gives INVALID_ARGUMENT", async () => {
    const stream = await openReflection(version);
    const { messageResponse } = await stream.ask({});
    expect(messageResponse).toMatchObject({ case: "errorResponse", value: { errorCode: grpcStatus.INVALID_ARGUMENT } });
  });

  test("buf lists services and methods, and calls a method that it knows only by reflection", async () => {
    const { url } = await startReflection(version);
    const curl = (...args: string[]): Promise<string> =>
      runCommand("buf", ["curl", "--protocol", "grpc", "--http2-prior-knowledge", ...reflectBy(version), ...args]);

    expect((await curl("--list-services", url)).trim().split("\n").toSorted()).toEqual(serviceNames);

    const methods = services.flatMap(({ typeName, methods: own }) => own.map(({ name }) => `${typeName}/${name}`));
    expect((await curl("--list-methods", url)).trim().split("\n").toSorted()).toEqual(methods.toSorted());

    const answer = await curl(`${url}/runnel.v1.SystemService/GetVersion`);
    expect(JSON.parse(answer)).toEqual({ version: "1.2.3" });
  });
});

test("one stream sends each import once, and the requested file always", async () => {
  const stream = await openReflection(ServerReflection);
  const askFor = async (value: string): Promise<string[]> =>
    filesIn(await stream.ask({ messageRequest: { case: "fileContainingSymbol", value } })).map(({ name }) => name);
  const first = await askFor("runnel.v1.SessionService");
  const second = await askFor("runnel.v1.RunService");
  const third = await askFor("runnel.v1.RunService");
  expect(first).toEqual([...new Set(first)]);
  expect(first).toContain("runnel/v1/session.proto");
  expect(second[0]).toBe("runnel/v1/run_service.proto");
  expect(second).toContain("runnel/v1/run.proto");
  expect(second.filter((name) => first.includes(name))).toEqual([]);
  expect(third).toEqual(["runnel/v1/run_service.proto"]);
});

test("a client gets everything that it needs to build the contract, options included", async () => {
  const stream = await openReflection(ServerReflection);
  const files = [];
  for (const value of serviceNames) {
    files.push(...filesIn(await stream.ask({ messageRequest: { case: "fileContainingSymbol", value } })));
  }
  const registry = buildRegistry(files);
  for (const { typeName, methods } of services) {
    const built = registry.getService(typeName);
    expect(built?.methods.map(({ name }) => name)).toEqual(methods.map(({ name }) => name));
  }
  const tailRun = registry.getService(RunService.typeName)?.methods.find(({ name }) => name === "TailRun");
  expect(tailRun && getOption(tailRun, http)).toEqual(getOption(RunService.method.tailRun, http));
});

test("the largest answer fits into one message", async () => {
  const stream = await openReflection(ServerReflection);
  const sizes = [];
  for (const value of serviceNames) {
    const answer = await stream.ask({ messageRequest: { case: "fileContainingSymbol", value } });
    sizes.push(toBinary(ServerReflection.method.serverReflectionInfo.output, answer).byteLength);
  }
  expect(Math.max(...sizes)).toBeLessThan(messageBytesMax);
});

test.each([
  ["host", { host: "h".repeat(1_025) }],
  ["symbol", { messageRequest: { case: "fileContainingSymbol", value: "s".repeat(1_025) } }],
  [
    "extension",
    {
      messageRequest: {
        case: "fileContainingExtension",
        value: { containingType: "t".repeat(1_025), extensionNumber: 1 },
      },
    },
  ],
] as const)("a %s longer than any name ends the stream", async (_what, request) => {
  const stream = await openReflection(ServerReflection);
  await expect(stream.ask(request)).rejects.toMatchObject({ code: grpcStatus.INVALID_ARGUMENT });
});

test("a stream answers a limited number of requests", async () => {
  const stream = await openReflection(ServerReflection);
  const requestsMax = 5_000;
  const asked = Array.from({ length: requestsMax + 1 }, () => stream.ask({}));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(requestsMax);
  expect(outcomes.at(-1)).toMatchObject({ reason: { code: grpcStatus.RESOURCE_EXHAUSTED } });
});

test("a drain ends streams that wait for a request", async () => {
  const { server, drain } = await startBoth();
  const streams = Array.from({ length: 3 }, () => reflectionStream(server, ServerReflection));
  await Promise.all(streams.map((stream) => stream.ask({})));
  drain.abort();
  for (const stream of streams) {
    await until("the end of the stream", stream.end);
    expect(stream.end()?.code).toBe(grpcStatus.UNAVAILABLE);
  }
  await until("nothing left", () => getEventListeners(drain.signal, "abort").length === 0);
});

test("clients that leave free everything", async () => {
  const { server, drain } = await startBoth();
  const streams = Array.from({ length: 20 }, () => reflectionStream(server, ServerReflection));
  await Promise.all(streams.map((stream) => stream.ask({})));
  expect(getEventListeners(drain.signal, "abort")).toHaveLength(streams.length);
  for (const [index, { call }] of streams.entries()) {
    if (index % 2 === 0) {
      call.cancel();
    } else {
      call.end();
    }
  }
  await until("nothing left", () => getEventListeners(drain.signal, "abort").length === 0);
});

test.each(versions)("a service answers $typeName for callers with valid credentials", async (version) => {
  const service = await startService();
  const list = (headers: Record<string, string>) =>
    reflectionStream(service, version, headers).ask({ messageRequest: { case: "listServices", value: "*" } });
  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    await expect(list(headers)).rejects.toMatchObject({ code: grpcStatus.UNAUTHENTICATED });
  }
  const { messageResponse } = await list(credentialsOf());
  const { service: listed } = messageResponse.value as { service: { name: string }[] };
  const names = listed.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...serviceNames, "runnel.job.v1.JobService"]));
});

test("a service that asks for no credentials answers every caller", async () => {
  const service = await startService({ authApiKeys: [] });
  const { messageResponse } = await reflectionStream(service, ServerReflection).ask({
    messageRequest: { case: "listServices", value: "*" },
  });
  expect(messageResponse.case).toBe("listServicesResponse");
});

test("`server.reflection` turns it off", async () => {
  const service = await startService({ serverReflection: false });
  const stream = reflectionStream(service, ServerReflection, credentialsOf());
  await expect(stream.ask({})).rejects.toMatchObject({ code: grpcStatus.UNIMPLEMENTED });
});

/** The numbers of our own method options, ascending. */
const methodOptions = file_runnel_options_v1_options.extensions
  .filter(({ extendee }) => extendee.typeName === "google.protobuf.MethodOptions")
  .map(({ number }) => number)
  .toSorted((a, b) => a - b);

type Version = (typeof versions)[number];

async function startBoth(): Promise<{ server: RpcServer; drain: AbortController }> {
  const drain = new AbortController();
  const reflection = createReflectionService({ services, drain: drain.signal });
  const server = await startRpcServer((router) =>
    router.service(ServerReflection, reflection).service(ServerReflectionV1Alpha, reflection),
  );
  return { server, drain };
}

/** Starts a service that speaks only this version, with one method besides. */
async function startReflection(version: Version): Promise<RpcServer> {
  const reflection = createReflectionService({ services, drain: new AbortController().signal });
  const system: Partial<ServiceImpl<typeof SystemService>> = { getVersion: () => ({ version: "1.2.3" }) };
  return await startRpcServer((router) => router.service(SystemService, system).service(version, reflection));
}

async function openReflection<V extends Version>(version: V): Promise<ReflectionStream<V>> {
  return reflectionStream(await startReflection(version), version);
}

function reflectBy(version: Version): string[] {
  return ["--reflect-protocol", version === ServerReflection ? "grpc-v1" : "grpc-v1alpha"];
}

type Input<V extends Version> = V["method"]["serverReflectionInfo"]["input"];
type Output<V extends Version> = V["method"]["serverReflectionInfo"]["output"];

interface ReflectionStream<V extends Version> {
  readonly call: ClientDuplexStream<MessageShape<Input<V>>, MessageShape<Output<V>>>;
  /** Resolves with the answer to exactly this question; rejects when the stream ends before it. */
  ask(request: MessageInitShape<Input<V>>): Promise<MessageShape<Output<V>>>;
  readonly end: () => ServiceError | undefined;
}

function reflectionStream<V extends Version>(
  { target }: Pick<RpcServer, "target">,
  version: V,
  headers: Readonly<Record<string, string>> = {},
): ReflectionStream<V> {
  const input: DescMessage = version.method.serverReflectionInfo.input;
  const output: DescMessage = version.method.serverReflectionInfo.output;
  const client = new Client(target, credentials.createInsecure());
  onTestFinished(() => client.close());
  const call = client.makeBidiStreamRequest(
    `/${version.typeName}/ServerReflectionInfo`,
    (message: MessageShape<Input<V>>) => Buffer.from(toBinary(input, message)),
    (bytes: Buffer) => fromBinary(output, bytes) as MessageShape<Output<V>>,
    metadataOf(headers),
  );
  const waiting: PromiseWithResolvers<MessageShape<Output<V>>>[] = [];
  let end: ServiceError | undefined;
  call.on("data", (message: MessageShape<Output<V>>) => waiting.shift()?.resolve(message));
  call.on("error", (error: ServiceError) => {
    end = error;
    for (const { reject } of waiting.splice(0)) {
      reject(error);
    }
  });
  return {
    call,
    ask: (request) => {
      const answer = Promise.withResolvers<MessageShape<Output<V>>>();
      waiting.push(answer);
      call.write(create(input, request) as MessageShape<Input<V>>);
      return answer.promise;
    },
    end: () => end,
  };
}

function filesIn({ messageResponse }: MessageShape<Output<Version>>): MessageShape<typeof FileDescriptorProtoSchema>[] {
  if (messageResponse.case !== "fileDescriptorResponse") {
    throw new Error(`no files but ${JSON.stringify(messageResponse)}`);
  }
  return messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

/** A registry wants imports before the files that import them. */
function buildRegistry(files: readonly MessageShape<typeof FileDescriptorProtoSchema>[]): FileRegistry {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<MessageShape<typeof FileDescriptorProtoSchema>>();
  const add = (name: string): void => {
    const file = byName.get(name);
    if (file === undefined) {
      throw new Error(`${name} is imported but was not sent`);
    }
    file.dependency.forEach(add);
    ordered.add(file);
  };
  for (const { name } of files) {
    add(name);
  }
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] }));
}
