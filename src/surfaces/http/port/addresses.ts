// How many connections each peer holds, so that one host cannot take them all. Of IPv6 a peer is a network: an address
// more costs its owner nothing.

import type { Socket } from "node:net";
import { addressOf, networkOf } from "../network.ts";

export class AddressCounts {
  readonly #perAddressMax: number;
  readonly #counts = new Map<string, number>();

  constructor(perAddressMax: number) {
    this.#perAddressMax = perAddressMax;
  }

  /** Counts the connection until it closes. False when its peer has as many as it may, or has left. */
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
