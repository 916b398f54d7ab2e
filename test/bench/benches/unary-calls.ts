// The path of a call through the port, the interceptors and back, without the database: a call that the service answers from
// memory, beside servers that only answer the same bytes.

import { create, toBinary } from "@bufbuild/protobuf";
import { GetLimitsRequestSchema } from "#gen/runnel/v1/system_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { H1Client } from "../clients/h1-client.ts";
import { H2Client } from "../clients/h2-client.ts";
import { HttpClient } from "../clients/http-client.ts";
import type { Load } from "../harness/load.ts";
import type { BareServer } from "../harness/stage.ts";
import { compareWithBare, measureCalls } from "./calls.ts";

/** Sixteen calls on each connection, as in a connection pool of a caller's replicas. */
const h2Connections = 4;
const path = "/runnel.v1.SystemService/GetLimits";
const request = toBinary(GetLimitsRequestSchema, create(GetLimitsRequestSchema));

export const unaryCalls: Bench = {
  name: "unary",
  title: "GetLimits, 64 at a time: a call without the database",
  notMeasured:
    "a network, TLS, credentials (the method is public), large messages, gRPC-Web, REST. The client uses a core of its own; its CPU time is reported separately.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("unary");
    await using bare = await stage.startBareServer();
    using clients = new DisposableStack();
    const pairs = [await openGrpc(clients, service, bare), await openConnect(clients, service, bare)];
    const warmup: Load = { concurrency: 64, count: stage.quick ? 1_000 : 5_000, limitMs: 2_000 };
    await measurePairs(pairs, warmup);
    for (;;) {
      yield await measurePairs(pairs, {
        ...warmup,
        count: Number.POSITIVE_INFINITY,
        limitMs: stage.quick ? 500 : 1_000,
      });
    }
  },
};

/** The same call to the service and to the bare server. */
interface Pair {
  readonly name: string;
  readonly service: Target;
  readonly bare: Target;
}

interface Target {
  readonly pid: number;
  readonly call: () => Promise<boolean>;
}

type Server = Pick<BareServer, "pid" | "url" | "target">;

async function openGrpc(clients: DisposableStack, service: Server, bare: BareServer): Promise<Pair> {
  const open = ({ target }: Server): H2Client[] =>
    Array.from({ length: h2Connections }, () => clients.use(new H2Client(target)));
  const [toService, toBare] = [open(service), open(bare)];
  const answer = await (toService[0] as H2Client).call(path, request);
  await putAnswer(bare, answer);
  const caller = (connections: readonly H2Client[]): Target["call"] => {
    let next = 0;
    return async () => (await (connections[next++ % h2Connections] as H2Client).call(path, request)).equals(answer);
  };
  return {
    name: "gRPC",
    service: { pid: service.pid, call: caller(toService) },
    bare: { pid: bare.pid, call: caller(toBare) },
  };
}

async function openConnect(clients: DisposableStack, service: Server, bare: BareServer): Promise<Pair> {
  const [toService, toBare] = [clients.use(new H1Client(service.url)), clients.use(new H1Client(bare.url))];
  const { body: answer } = await toService.post({ path, body: "{}" });
  const jsonPath = `${path}.json`;
  await putAnswer(bare, answer, jsonPath);
  const caller = (client: H1Client, at: string) => async (): Promise<boolean> => {
    const { status, body } = await client.post({ path: at, body: "{}" });
    return status === 200 && body.equals(answer);
  };
  return {
    name: "Connect JSON",
    service: { pid: service.pid, call: caller(toService, path) },
    bare: { pid: bare.pid, call: caller(toBare, jsonPath) },
  };
}

async function putAnswer(bare: BareServer, answer: Uint8Array, at = path): Promise<void> {
  using client = new HttpClient(bare.url);
  const { status } = await client.put(`/answers${at}`, answer);
  if (status !== 200) {
    throw new Error(`the bare server did not accept its answer: ${status}`);
  }
}

async function measurePairs(pairs: readonly Pair[], load: Load): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const { name, service, bare } of pairs) {
    const measureOne = (target: Target, itsName: string): Promise<Variant> =>
      measureCalls({ ...load, name: itsName, call: target.call, meter: { servicePid: target.pid } });
    const bareVariant = await measureOne(bare, `bare ${name === "gRPC" ? "node:http2" : "node:http"}`);
    variants.push(compareWithBare(await measureOne(service, name), bareVariant), bareVariant);
  }
  return variants;
}
