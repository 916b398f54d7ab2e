// Opens connections for clients, and only to addresses that clients may reach.
//
// D1  A name is resolved once, and all its addresses must be allowed: one refused address refuses the host.
// D2  Only a checked address is dialled. No later step resolves the name again, and no proxy is used.
// D3  TLS verifies the name: the certificate must be valid for it.

import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type Clock, over } from "../base/clock.ts";
import { bareHost } from "../config/host-network.ts";
import type { AddressPolicy } from "./address.ts";
import { type DeniedKind, describeTlsTrouble, EgressFailure, refuse } from "./failure.ts";

/** Dependencies of the dialer. */
export interface DialerOptions {
  readonly clock: Clock;
  readonly policy: AddressPolicy;
  /** Called for each refused target, with the kind of the refusal. */
  readonly onDenied?: ((kind: DeniedKind) => void) | undefined;
  /** Returns all addresses of a name. A test replaces DNS with it. */
  readonly resolve?: ((name: string) => Promise<readonly string[]>) | undefined;
  /** Starts a connection. A test replaces the internet with it. */
  readonly connect?: ((address: string, port: number) => Socket) | undefined;
  /** The certificate authorities, replacing those that Node trusts. */
  readonly ca?: string | undefined;
}

/**
 * The maximum time for one address, in milliseconds; then the next one is tried. The last address may use the time of the whole
 * call.
 */
export const addressTimeoutMs = 3_000;

/** The maximum number of addresses that are tried. All addresses are checked. */
const addressesTriedMax = 4;

/** The protocol of a connection, by its ALPN name. */
export type Protocol = "http/1.1" | "h2";

/** The target of a connection. */
export interface Target {
  readonly url: URL;
  /** From `findAddresses`. */
  readonly addresses: readonly string[];
  readonly protocol: Protocol;
}

/** Resolves with a connection that is ready for writing. An abort closes the connection at any time. */
export async function dial(
  { url, addresses, protocol }: Target,
  signal: AbortSignal,
  options: DialerOptions,
): Promise<Socket> {
  signal.throwIfAborted();
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  const socket = await connectFirst(addresses.slice(0, addressesTriedMax), port, signal, options);
  return isTls ? await secure(socket, bareHost(url.hostname), protocol, options.ca) : socket;
}

/** Returns all addresses of the host. Throws an EgressFailure when the host has no address, or one that may not be dialled. */
export async function findAddresses(
  url: URL,
  { policy, onDenied, resolve = resolveBySystem }: DialerOptions,
): Promise<readonly string[]> {
  const host = bareHost(url.hostname);
  // The final dot of the name disables search domains.
  const addresses = isIP(host) === 0 ? await resolve(url.hostname) : [host];
  if (addresses.length === 0) {
    throw new EgressFailure("no such host", { isRetryable: true });
  }
  const blocked = addresses.find((address) => !policy.isAllowed(host, address));
  if (blocked !== undefined) {
    onDenied?.("address");
    throw refuse(`connection to private IP ${blocked} is blocked`);
  }
  return addresses;
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const answers = await lookup(name, { all: true, order: "verbatim" });
  return answers.map(({ address }) => address);
}

async function connectFirst(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
  { clock, connect = connectByTcp }: DialerOptions,
): Promise<Socket> {
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    const socket = connect(address, port);
    destroyOnAbort(socket, signal);
    const isLast = index === addresses.length - 1;
    try {
      return await (isLast ? ready(socket, "connect") : readyInTime(socket, clock));
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

function connectByTcp(address: string, port: number): Socket {
  if (isIP(address) === 0) {
    throw new Error("only addresses are dialled");
  }
  return connectTcp({ host: address, port });
}

function destroyOnAbort(socket: Socket, signal: AbortSignal): void {
  const stop = (): void => {
    socket.destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", stop));
  if (signal.aborted) {
    stop();
  }
}

async function readyInTime(socket: Socket, clock: Clock): Promise<Socket> {
  const done = new AbortController();
  void clock.sleep(addressTimeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) {
      socket.destroy();
    }
  });
  try {
    return await ready(socket, "connect");
  } finally {
    done.abort(over);
  }
}

async function secure(socket: Socket, host: string, protocol: Protocol, ca: string | undefined): Promise<TLSSocket> {
  // TLS server names cannot be addresses. For an address, the certificate must be valid for the address itself.
  const name = isIP(host) === 0 ? { servername: host } : { servername: "", host };
  const options = { ...name, socket, ALPNProtocols: [protocol], ...(ca !== undefined && { ca }) };
  try {
    const secured = await ready(connectTls(options), "secureConnect");
    // A server that negotiates no protocol speaks HTTP/1.1.
    if (protocol === "h2" && secured.alpnProtocol !== protocol) {
      throw refuse("the host does not speak HTTP/2");
    }
    return secured;
  } catch (error) {
    socket.destroy();
    throw describeTlsTrouble(error);
  }
}

/** Resolves with the socket at its event. After that, its user handles its errors. */
function ready<T extends Socket>(socket: T, event: string): Promise<T> {
  return new Promise((resolve, reject) => {
    // Stays attached: an error without a listener would end the process.
    socket.on("error", reject);
    socket.once("close", () => reject(new EgressFailure("connection timed out", { isRetryable: true })));
    socket.once(event, () => resolve(socket));
  });
}
