// Page tokens: opaque to callers, and of use only for the list and the client they were made for.

import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";

/** 128 bits of the MAC: no one guesses them, and tokens stay short. */
const macBytes = 16;

export class Cursors {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** `scope` names the list and everything that selects its rows; `position` is where the next page starts. */
  encode(scope: readonly string[], position: string): string {
    return Buffer.concat([this.#mac(scope, position), Buffer.from(position)]).toString("base64url");
  }

  /** Undefined for the first page. */
  decode(scope: readonly string[], token: string): string | undefined {
    if (token === "") {
      return undefined;
    }
    const position = Buffer.from(token, "base64url").subarray(macBytes).toString();
    // As a whole: decoders pass over much, so many texts have the same bytes and only one of them was given out.
    const expected = Buffer.from(this.encode(scope, position));
    const given = Buffer.from(token);
    if (given.length === expected.length && timingSafeEqual(given, expected)) {
      return position;
    }
    throw new Fault("CURSOR_INVALID", "page_token was not made for this list: start without one", {
      violations: [{ field: "page_token", description: "use next_page_token of the same list, unchanged" }],
    });
  }

  #mac(scope: readonly string[], position: string): Buffer {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([...scope, position]))
      .digest()
      .subarray(0, macBytes);
  }
}
