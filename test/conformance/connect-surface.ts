// The API through the clients of connect: Connect itself and gRPC-Web, on Node's HTTP or on fetch. They differ only in their
// transport.

import type { MessageShape } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { type RpcClient, rpcSurface } from "./rpc-surface.ts";
import { Refused, type Surface } from "./surface.ts";

/** The timeout of the reference client. */
const callTimeoutMs = 30_000;

/** Every call sends `headers`. */
export function connectSurface(transport: Transport, headers: Readonly<Record<string, string>>): Surface {
  return rpcSurface(openConnect(transport, headers));
}

/** Every call sends `headers`. */
export function openConnect(transport: Transport, headers: Readonly<Record<string, string>>): RpcClient {
  return {
    call: async (method, request) => {
      const { message } = await transport.unary(method, undefined, callTimeoutMs, headers, request).catch(refuse);
      return message as MessageShape<(typeof method)["output"]>;
    },
    follow: async function* (method, request) {
      const leaving = new AbortController();
      try {
        const { message } = await transport.stream(method, leaving.signal, undefined, headers, single(request));
        yield* message as AsyncIterable<MessageShape<(typeof method)["output"]>>;
      } catch (error) {
        refuse(error);
      } finally {
        leaving.abort();
      }
    },
  };
}

async function* single<T>(item: T): AsyncGenerator<T> {
  yield item;
}

function refuse(error: unknown): never {
  const failure = ConnectError.from(error);
  const [retryInfo] = failure.findDetails(RetryInfoSchema);
  throw new Refused(failure.rawMessage, {
    grpcCode: status[failure.code],
    reason: failure.findDetails(ErrorInfoSchema)[0]?.reason,
    violations: failure.findDetails(BadRequestSchema)[0]?.fieldViolations,
    retryAfterSeconds: retryInfo?.retryDelay && durationMs(retryInfo.retryDelay) / 1_000,
  });
}
