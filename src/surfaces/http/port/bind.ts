// Opens a port, and explains why it cannot be opened.

import type { AddressInfo, Server } from "node:net";
import { Fault } from "../../../platform/base/fault.ts";

/** Where to listen. */
export interface Place {
  readonly host: string;
  readonly port: number;
  /** Whether other sockets may listen on the port, too, if they say the same; they divide its connections. */
  readonly reusePort?: boolean;
}

/** Resolves with the bound address. Rejects with Fault CONFIG_INVALID, which says how to fix the settings. */
export function bind(server: Server, { host, port, reusePort = false }: Place): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(explainBindFailure(error, host, port));
    server.once("error", refuse);
    server.listen({ host, port, reusePort }, () => {
      server.off("error", refuse);
      // `address()` returns a string only for pipes, and null only when the server is not listening.
      resolve(server.address() as AddressInfo);
    });
  });
}

function explainBindFailure(error: NodeJS.ErrnoException, host: string, port: number): Fault {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is already in use: stop the program that holds it, or choose another port with --port or RUNNEL_SERVER_PORT`,
    EACCES: `port ${port} on ${host} needs privileges: set RUNNEL_SERVER_PORT to 1024 or higher`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set RUNNEL_SERVER_HOST to one that is, or to 0.0.0.0`,
    ENOTFOUND: `the host ${host} is unknown: set RUNNEL_SERVER_HOST to an address of this machine`,
  };
  const message = messages[error.code ?? ""] ?? `cannot listen on ${host}, port ${port}: ${error.message}`;
  return new Fault("CONFIG_INVALID", message, { cause: error });
}
