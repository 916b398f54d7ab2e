// The host API of one run: the generated client, whose calls carry the run's token and name the run by themselves.

import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, type Http2SessionManager } from "@connectrpc/connect-node";
import { HostService } from "../../gen/runnel/host/v1/host_service_pb.js";

export type Host = Client<typeof HostService>;

export interface HostOptions {
  readonly url: string;
  readonly sessionManager: Http2SessionManager;
  readonly runId: string;
  readonly token: string;
}

export function openHost({ url, sessionManager, runId, token }: HostOptions): Host {
  // Every request of this service has the field.
  const name = <T>(message: T): T => ({ ...message, runId });
  const identify: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return await next(
      request.stream
        ? { ...request, message: mapMessages(request.message, name) }
        : { ...request, message: name(request.message) },
    );
  };
  return createClient(HostService, createGrpcTransport({ baseUrl: url, sessionManager, interceptors: [identify] }));
}

async function* mapMessages<T>(messages: AsyncIterable<T>, map: (message: T) => T): AsyncIterable<T> {
  for await (const message of messages) {
    yield map(message);
  }
}
