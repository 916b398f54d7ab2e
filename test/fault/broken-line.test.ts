// How npm clients report a service that is killed during their call, and one that is away: the table of docs/resuming.md.
// In every case they call again with `after` and miss nothing.

import type { MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import * as transports from "../conformance/transports.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { expectListed, printCode, readCodesTable } from "./codes-table.ts";

type Responses = AsyncIterable<MessageShape<typeof RunService.method.tailRun.output>>;
type Tail = (runId: string, after: bigint) => Responses;

const clients: Readonly<Record<string, (url: string) => Tail>> = {
  "grpc-js (Node)": (url) => {
    const client = new GrpcClient(new URL(url).host);
    return (runId, after) => client.stream(RunService.method.tailRun, { runId, after });
  },
  "connect-node, gRPC": (url) => tailOver(createGrpcTransport({ baseUrl: url })),
  "connect-node, Connect over HTTP/2": (url) => tailOver(transports.connectHttp2Transport(url)),
  "connect-node, Connect over HTTP/1.1": (url) => tailOver(transports.connectJsonTransport(url)),
  "connect-node, gRPC-Web over HTTP/1.1": (url) => tailOver(transports.grpcWebTransport(url)),
  "connect-web, Connect": (url) => tailOver(transports.connectFetchTransport(url)),
  "connect-web, gRPC-Web": (url) => tailOver(transports.grpcWebFetchTransport(url)),
};

function tailOver(transport: Transport): Tail {
  const client = createClient(RunService, transport);
  return (runId, after) => client.tailRun({ runId, after }, { headers: credentialsOf() });
}

/** A reader that continues after its last result. */
class Reader {
  readonly results: RunResult[] = [];
  readonly #runId: string;

  constructor(runId: string) {
    this.#runId = runId;
  }

  get hasText(): boolean {
    return this.results.some(({ payload }) => payload.case === "messageDelta");
  }

  /** Continues reading; resolves with the client's name for the end of the stream. */
  async follow(tail: Tail): Promise<string> {
    try {
      for await (const { results } of tail(this.#runId, BigInt(this.results.length))) {
        this.results.push(...results);
      }
      return "OK";
    } catch (error) {
      return error instanceof ConnectError ? printCode(Code[error.code]) : String(status[(error as ServiceError).code]);
    }
  }
}

// Each client waits for a process, twice.
vi.setConfig({ testTimeout: 120_000 });

test("each client reports a lost service with its own code, and continues with after", async () => {
  const table = await readCodesTable();
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("half of an answer"), answer("a whole answer"));
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const { runId } = await startRun(first.client, "go");
  const readers = Object.entries(clients).map(([name, open]) => {
    const reader = new Reader(runId);
    return { name, open, reader, broken: reader.follow(open(first.url)) };
  });
  await until("text at every client", () => readers.every(({ reader }) => reader.hasText));
  await first.kill();
  for (const { name, open, reader, broken } of readers) {
    expectListed(table, name, { broken: await broken, away: await reader.follow(open(first.url)) });
  }
  const second = await cluster.start();
  for (const { name, open, reader } of readers) {
    expect([name, await reader.follow(open(second.url))]).toEqual([name, "OK"]);
    expect(reader.results.map(({ sequence }) => sequence)).toEqual(reader.results.map((_, index) => BigInt(index + 1)));
    expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  }
});
