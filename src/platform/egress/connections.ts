// Connections to hosts that callers name, kept open for the next call.
//
// C1  A kept connection serves a call only if that call's own check has just found the same addresses for the same host.
// C2  Kept connections have a limit, for each host and for all, and a time.

import { Agent, type AgentOptions, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";

/** Where a call goes, after the check of all its addresses. */
export interface Route {
  /** Equal for routes that may share a connection. */
  readonly name: string;
  /** Opens a new connection. */
  readonly connect: () => Promise<Duplex>;
}

/** Below the 60 s for which common load balancers keep theirs. Node goes by the time of a `Keep-Alive` header, if shorter. */
const idleTimeoutMs = 30_000;
/** As many calls of one host as usually run side by side: the tools of a turn. */
const idlePerHostMax = 5;
const idleMax = 64;

interface RoutedOptions extends ClientRequestArgs {
  readonly route?: Route;
}

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
