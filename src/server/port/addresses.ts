// How many connections each peer address holds, so that one host cannot take them all.

import type { Socket } from "node:net";

export class AddressCounts {
  readonly #perAddressMax: number;
  readonly #counts = new Map<string, number>();

  constructor(perAddressMax: number) {
    this.#perAddressMax = perAddressMax;
  }

  /** Counts the connection until it closes. False when its address has as many as it may, or none any more. */
  admit(socket: Socket): boolean {
    const address = peerAddress(socket);
    if (address === undefined) {
      return false;
    }
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#perAddressMax) {
      return false;
    }
    this.#counts.set(address, count + 1);
    socket.once("close", () => this.#release(address));
    return true;
  }

  #release(address: string): void {
    const count = this.#counts.get(address) ?? 0;
    if (count > 1) {
      this.#counts.set(address, count - 1);
    } else {
      this.#counts.delete(address);
    }
  }
}

/** Undefined when the peer has reset the connection already. An IPv4 address that comes by IPv6 is the IPv4 one. */
function peerAddress(socket: Socket): string | undefined {
  return socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, "");
}
