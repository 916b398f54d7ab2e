// Limits the connections of each peer, so that one host cannot take them all. For IPv6 a peer is a network: a further address
// costs its owner nothing.

import type { Socket } from "node:net";
import { addressOf, networkOf } from "../network.ts";

/** Counts the open connections of each peer. */
export class AddressCounts {
  readonly #perAddressMax: number;
  readonly #counts = new Map<string, number>();

  constructor(perAddressMax: number) {
    this.#perAddressMax = perAddressMax;
  }

  /** Counts the connection until it closes. Returns false when its peer has reached the maximum or has left. */
  admit(socket: Socket): boolean {
    const network = networkOf(addressOf(socket));
    const count = this.#counts.get(network) ?? 0;
    if (network === "" || count >= this.#perAddressMax) {
      return false;
    }
    this.#counts.set(network, count + 1);
    socket.once("close", () => this.#release(network));
    return true;
  }

  #release(network: string): void {
    const count = this.#counts.get(network) ?? 0;
    if (count > 1) {
      this.#counts.set(network, count - 1);
    } else {
      this.#counts.delete(network);
    }
  }
}
