// Connections to hosts that clients name, kept open for the next call.
//
// C1  A kept connection serves a call only if that call's own check has just found the same addresses for the same host.
// C2  The number of kept connections is limited, per host and in total, and so is their idle time.

import { Agent, type AgentOptions, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";

/** The target of a call, after the check of all its addresses. */
export interface Route {
  /** Equal for routes that may share a connection. */
  readonly name: string;
  /** Opens a new connection. */
  readonly connect: () => Promise<Duplex>;
}

/**
 * The idle time of a kept connection, in milliseconds: below the usual 60 s of load balancers. Node uses the time of a
 * `Keep-Alive` header when it is shorter.
 */
const idleTimeoutMs = 30_000;
/** The usual number of concurrent calls to one host: the tools of a turn. */
const idlePerHostMax = 5;
const idleMax = 64;

interface RoutedOptions extends ClientRequestArgs {
  readonly route?: Route;
}

/** An HTTP agent that opens and shares connections by route. */
export class Connections extends Agent {
  constructor() {
    const options: AgentOptions = { keepAlive: true, timeout: idleTimeoutMs, maxFreeSockets: idlePerHostMax };
    super(options);
  }

  override getName({ route }: RoutedOptions = {}): string {
    return route?.name ?? "";
  }

  override createConnection(
    { route }: RoutedOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const connecting = route?.connect() ?? Promise.reject(new Error("a call without a route"));
    connecting.then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const idleCount = Object.values(this.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    return idleCount < idleMax && (super.keepSocketAlive(socket) as unknown as boolean);
  }
}
