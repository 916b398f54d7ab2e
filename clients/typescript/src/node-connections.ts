// Connections of Node: gRPC over HTTP/2.

import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { OpenConnections } from "./client.ts";

/** A service that is not there any more does not say so. */
const pingIntervalMs = 20_000;

/** One connection, which opens when a call needs it, and again after it broke. */
export function openSession(url: string): Http2SessionManager {
  return new SessionManager(url, { pingIntervalMs });
}

/**
 * A manager that is aborted on a failing connection removes the listener of the error, which then ends the process. Each connection keeps
 * another one.
 */
class SessionManager extends Http2SessionManager {
  override async request(
    ...call: Parameters<Http2SessionManager["request"]>
  ): ReturnType<Http2SessionManager["request"]> {
    const stream = await super.request(...call);
    if (stream.session?.listenerCount("error", ignore) === 0) {
      stream.session.on("error", ignore);
    }
    return stream;
  }
}

function ignore(): void {}

interface Connection {
  readonly transport: Transport;
  readonly session: Http2SessionManager;
}

/** Opens connections for the calls of a client. */
export const openNodeConnections: OpenConnections = (url, interceptors) => {
  const open = (): Connection => {
    const session = openSession(url);
    return { session, transport: createGrpcTransport({ baseUrl: url, sessionManager: session, interceptors }) };
  };
  let current = open();
  let earlier: Http2SessionManager[] = [];
  return {
    transport: {
      unary: (...call) => current.transport.unary(...call),
      stream: (...call) => current.transport.stream(...call),
    },
    // Streams of the connection before it keep it until they end, or until it does not answer a ping.
    mark: () => {
      const marked = current;
      return () => {
        if (marked === current) {
          earlier = [...earlier, current.session].filter((each) => !["closed", "error"].includes(each.state()));
          current = open();
        }
      };
    },
    close: () => {
      for (const session of [...earlier, current.session]) {
        session.abort();
      }
    },
  };
};
