// Connections of Node: gRPC over HTTP/2.

import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { OpenConnections } from "./client.ts";

/** A service that is not there any more does not say so. */
const pingIntervalMs = 20_000;

/** Opens a connection when a call needs it. */
export const openNodeConnections: OpenConnections = (url, interceptors) => {
  const managers = new Set<Http2SessionManager>();
  const open = (): Transport => {
    const sessionManager = new Http2SessionManager(url, { pingIntervalMs });
    managers.add(sessionManager);
    return createGrpcTransport({ baseUrl: url, sessionManager, interceptors });
  };
  let current = open();
  return {
    transport: {
      unary: (...call) => current.unary(...call),
      stream: (...call) => current.stream(...call),
    },
    // Streams of the connection before it keep it until they end, or until it does not answer a ping.
    renew: () => {
      current = open();
    },
    close: () => {
      for (const manager of managers) {
        manager.abort();
      }
    },
  };
};
