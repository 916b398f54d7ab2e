// Opens connections for callers, and so only where callers may reach.
//
// D1  A name is resolved once, and every answer has to be allowed: one that is not refuses them all.
// D2  What is dialled is an address that was checked. Nothing resolves the name again, and no proxy stands in between.
// D3  TLS is for the name: it is what the certificate has to be good for.

import { lookup } from "node:dns/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type Clock, over } from "../base/clock.ts";
import { bareHost } from "../config/host-network.ts";
import type { AddressPolicy } from "./address.ts";
import { type DeniedKind, describeTlsTrouble, EgressFailure, refuse } from "./failure.ts";

export interface DialerOptions {
  readonly clock: Clock;
  readonly policy: AddressPolicy;
  /** Told of each target that is refused, and what speaks against it. */
  readonly onDenied?: ((kind: DeniedKind) => void) | undefined;
  /** All addresses of a name. A test stands in for DNS. */
  readonly resolve?: ((name: string) => Promise<readonly string[]>) | undefined;
  /** Begins a connection. A test stands in for the internet. */
  readonly connect?: ((address: string, port: number) => Socket) | undefined;
  /** Authorities of certificates, in place of those that Node knows. */
  readonly ca?: string | undefined;
}

/** An address that says nothing leaves its turn to the next one; the last one has the time of the whole call. */
export const addressTimeoutMs = 3_000;

/** All answers are checked; a name with more of them is tried no further. */
const addressesTriedMax = 4;

/** What is spoken over a connection, as TLS names it. */
export type Protocol = "http/1.1" | "h2";

export interface Target {
  readonly url: URL;
  /** From `findAddresses`. */
  readonly addresses: readonly string[];
  readonly protocol: Protocol;
}

/** Resolves with a connection that is ready to be written to. An abort closes it, at any time. */
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
  // The dot at the end keeps search domains out.
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
  // Server names are names: for an address there is none, and the certificate has to be good for the address itself.
  const name = isIP(host) === 0 ? { servername: host } : { servername: "", host };
  const options = { ...name, socket, ALPNProtocols: [protocol], ...(ca !== undefined && { ca }) };
  try {
    const secured = await ready(connectTls(options), "secureConnect");
    // One that names nothing speaks what HTTP began with.
    if (protocol === "h2" && secured.alpnProtocol !== protocol) {
      throw refuse("the host does not speak HTTP/2");
    }
    return secured;
  } catch (error) {
    socket.destroy();
    throw describeTlsTrouble(error);
  }
}

/** Resolves with the socket at its event. From then on its errors are heard by whoever uses it. */
function ready<T extends Socket>(socket: T, event: string): Promise<T> {
  return new Promise((resolve, reject) => {
    // Stays attached: an error without a listener would end the process.
    socket.on("error", reject);
    socket.once("close", () => reject(new EgressFailure("connection timed out", { isRetryable: true })));
    socket.once(event, () => resolve(socket));
  });
}
