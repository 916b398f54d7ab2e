// The API over gRPC, by the reference client.

import {
  type DescField,
  type DescMethod,
  fromBinary,
  getOption,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { type ServiceError, status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "#gen/google/rpc/status_pb.js";
import { event as eventOption, result as resultOption } from "#gen/runnel/options/v1/options_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import {
  SessionService,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { GrpcClient } from "../harness/grpc.ts";
import { plain } from "./plain.ts";
import { type Plain, Refused, type Result, type SessionEvent, type Surface } from "./surface.ts";

export function connectGrpc(target: string, headers: Readonly<Record<string, string>>): Surface {
  const client = new GrpcClient(target);
  const sessions = SessionService.method;
  const runs = RunService.method;
  const system = SystemService.method;

  async function call<M extends DescMethod, T>(method: M, request: MessageInitShape<M["input"]>): Promise<T> {
    return plain<T>(method.output, await client.call(method, request, headers).catch(refuse));
  }

  async function* follow<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): AsyncGenerator<MessageShape<M["output"]>> {
    const stream = client.stream(method, request, headers);
    // Hanging up makes an error of its own, which nobody waits for.
    stream.on("error", () => {});
    try {
      yield* stream as AsyncIterable<MessageShape<M["output"]>>;
    } catch (error) {
      refuse(error);
    } finally {
      stream.cancel();
    }
  }

  return {
    createSession: (request) => call(sessions.createSession, request),
    getSession: async (sessionId) =>
      (await call<DescMethod, { session: Plain }>(sessions.getSession, { sessionId })).session,
    listSessions: (request) => call(sessions.listSessions, request),
    deleteSession: (sessionId) => call(sessions.deleteSession, { sessionId }),
    sendMessage: (request) => call(sessions.sendMessage, request),
    followSession: async function* (sessionId, after = "") {
      for await (const message of follow(sessions.streamSession, { sessionId, after })) {
        yield* sessionEvents(message);
      }
    },
    getRun: async (runId) => (await call<DescMethod, { run: Plain }>(runs.getRun, { runId })).run,
    listRuns: (request) => call(runs.listRuns, request),
    followRun: async function* (runId, after = 0) {
      for await (const { results } of follow(runs.tailRun, { runId, after: BigInt(after) })) {
        yield* results.map(plainResult);
      }
    },
    listResults: async (request) => {
      const { results, nextPageToken } = await client.call(runs.listRunResults, request, headers).catch(refuse);
      return { results: results.map(plainResult), ...(nextPageToken !== "" && { next_page_token: nextPageToken }) };
    },
    cancelRun: async (runId) => (await call<DescMethod, { run: Plain }>(runs.cancelRun, { runId })).run,
    getVersion: () => call(system.getVersion, {}),
    getLimits: () => call(system.getLimits, {}),
  };
}

/** None for a message that only keeps the stream alive. */
function sessionEvents(message: StreamSessionResponse): SessionEvent[] {
  if (message.event.case === undefined) {
    return [];
  }
  const field = memberField(StreamSessionResponseSchema.fields, message.event.case);
  return [{ id: message.id, type: getOption(field, eventOption), payload: plain(field.message, message.event.value) }];
}

function plainResult(result: RunResult): Result {
  const field = memberField(RunResultSchema.fields, result.payload.case);
  const { sequence, usage, ...rest } = plain<Result & Plain>(RunResultSchema, result);
  return { sequence, usage, type: getOption(field, resultOption).name, payload: rest[field.name] as Plain };
}

function memberField(fields: readonly DescField[], name: string | undefined): DescField & { fieldKind: "message" } {
  const field = fields.find((candidate) => candidate.localName === name);
  if (field?.fieldKind !== "message") {
    throw new Error(`no member ${name}`);
  }
  return field;
}

function refuse(error: unknown): never {
  const { code, details, metadata } = error as ServiceError;
  const [bytes] = metadata?.get("grpc-status-details-bin") ?? [];
  const rich = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes) : undefined;
  const retryDelay = detailOf(rich, RetryInfoSchema)?.retryDelay;
  throw new Refused(details, {
    grpcCode: status[code],
    reason: detailOf(rich, ErrorInfoSchema)?.reason,
    violations: detailOf(rich, BadRequestSchema)?.fieldViolations,
    retryAfterSeconds: retryDelay && durationMs(retryDelay) / 1_000,
  });
}

type DetailSchema = typeof ErrorInfoSchema | typeof BadRequestSchema | typeof RetryInfoSchema;

function detailOf<S extends DetailSchema>(rich: Status | undefined, schema: S): MessageShape<S> | undefined {
  return rich?.details.map((any) => anyUnpack(any, schema)).find((detail) => detail !== undefined) as
    | MessageShape<S>
    | undefined;
}
