// The API over gRPC, through the reference client.

import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { type ServiceError, status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "#gen/google/rpc/status_pb.js";
import { GrpcClient } from "../harness/grpc.ts";
import { type RpcClient, rpcSurface } from "./rpc-surface.ts";
import { Refused, type Surface } from "./surface.ts";

export function connectGrpc(target: string, headers: Readonly<Record<string, string>>): Surface {
  return rpcSurface(openGrpc(target, headers));
}

export function openGrpc(target: string, headers: Readonly<Record<string, string>>): RpcClient {
  const client = new GrpcClient(target, headers);
  return {
    call: (method, request) => client.call(method, request).catch(refuse),
    follow: async function* (method, request) {
      const stream = client.stream(method, request);
      // A cancelled stream emits an error, which no caller waits for.
      stream.on("error", () => {});
      try {
        yield* stream as AsyncIterable<MessageShape<(typeof method)["output"]>>;
      } catch (error) {
        refuse(error);
      } finally {
        stream.cancel();
      }
    },
  };
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

function detailOf<S extends DescMessage>(rich: Status | undefined, schema: S): MessageShape<S> | undefined {
  return rich?.details.map((any) => anyUnpack(any, schema)).find((detail) => detail !== undefined);
}
