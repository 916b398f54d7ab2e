// The smallest durable request: one session, one transaction.

import { create, toBinary } from "@bufbuild/protobuf";
import { CreateSessionRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { H1Client } from "../clients/h1-client.ts";
import { H2Client } from "../clients/h2-client.ts";
import type { Load } from "../harness/load.ts";
import type { Service } from "../harness/service.ts";
import type { Stage } from "../harness/stage.ts";
import { Together } from "../harness/together.ts";
import { measureCalls } from "./calls.ts";

const limitMs = 6_000;
const agent = { name: "bench", model: "gpt-4o-mini" };
const path = "/runnel.v1.SessionService/CreateSession";

export const createSessions: Bench = {
  name: "create",
  title: "Create sessions, 64 at a time",
  notMeasured: "signed requests, idempotency keys, contention on one session id, slower or faster disks.",
  roundsMax: 3,
  async *measure(stage) {
    await using services = new Together();
    using clients = new DisposableStack();
    const doors = await openDoors(stage, services, clients);
    const load: Load = { concurrency: 64, count: stage.quick ? 500 : 2_500, limitMs };
    for (const door of doors) {
      await measureDoor(door, stage, { ...load, count: load.count / 2 });
    }
    for (;;) {
      const variants: Variant[] = [];
      for (const door of doors) {
        variants.push(await measureDoor(door, stage, load));
      }
      yield variants;
    }
  },
};

interface Door {
  readonly name: string;
  readonly service: Service;
  readonly call: () => Promise<boolean>;
}

async function openDoors(stage: Stage, services: Together, clients: DisposableStack): Promise<readonly Door[]> {
  const open = async (suffix: string): Promise<Service> => services.use(await stage.startService(`create-${suffix}`));
  const [grpc, connect, rest] = [await open("grpc"), await open("connect"), await open("rest")];
  const h2 = clients.use(new H2Client(grpc.target));
  const request = toBinary(CreateSessionRequestSchema, create(CreateSessionRequestSchema, { agent }));
  const body = JSON.stringify({ agent });
  const poster = ({ url }: Service, at: string, expected: number): Door["call"] => {
    const client = clients.use(new H1Client(url));
    return async () => (await client.post({ path: at, body })).status === expected;
  };
  return [
    { name: "gRPC", service: grpc, call: async () => (await h2.call(path, request)).length > 0 },
    { name: "Connect JSON", service: connect, call: poster(connect, path, 200) },
    { name: "REST", service: rest, call: poster(rest, "/v1/sessions", 201) },
  ];
}

function measureDoor({ name, service, call }: Door, { home }: Stage, load: Load): Promise<Variant> {
  const meter = { servicePid: service.pid, postmasterPid: home.postmasterPid() };
  return measureCalls({ ...load, name, call, meter });
}
