// The source of many readers: a run of the service whose provider is held until all readers have connected, or a stream
// of the bare server.

import { create, toBinary } from "@bufbuild/protobuf";
import { TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import { HttpClient } from "../clients/http-client.ts";
import type { Service } from "../harness/service.ts";
import type { BareServer, Stage } from "../harness/stage.ts";
import type { Place, Shape } from "./readers.ts";

export interface StreamSource {
  readonly place: Place;
  /** Lets the source begin. */
  readonly speak: () => Promise<unknown>;
}

export interface Speech {
  readonly shape: Shape;
  readonly deltas: number;
  readonly gapMs: number;
}

const agent = { name: "bench", model: "gpt-4o-mini" };

export async function openServiceSource(stage: Stage, service: Service, speech: Speech): Promise<StreamSource> {
  using client = new HttpClient(service.url);
  const session = JSON.parse((await client.send("POST", "/v1/sessions", { agent })).text);
  const sessionPath = `/v1/sessions/${session.session_id}`;
  const message = `deltas=${speech.deltas} gap=${speech.gapMs} stamped=1 held=1`;
  await client.send("POST", `${sessionPath}/messages`, { message });
  const { runs } = JSON.parse((await client.send("GET", `/v1/runs?session_id=${session.session_id}`)).text);
  const request = toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId: runs[0].run_id }));
  const path = speech.shape.protocol === "grpc" ? "/runnel.v1.RunService/TailRun" : `${sessionPath}/stream`;
  const speak = async (): Promise<void> => {
    using provider = new HttpClient(stage.provider.url);
    await provider.send("POST", "/release");
  };
  return { place: { url: service.url, target: service.target, path, request }, speak };
}

export function openBareSource(server: BareServer, { deltas, gapMs }: Speech): StreamSource {
  const speak = async (): Promise<void> => {
    using client = new HttpClient(server.url);
    await client.send("POST", "/speak/run", { deltas, gapMs });
  };
  const place = { url: server.url, target: server.target, path: "/events/run", request: new Uint8Array() };
  return { place, speak };
}
