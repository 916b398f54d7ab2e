// Page tokens: opaque to clients, and valid only for the list and the client they were created for.

import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";

/** The length of the MAC, in bytes: 128 bits cannot be guessed and keep tokens short. */
const macBytes = 16;

/** Encodes and decodes page tokens. */
export class Cursors {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Returns a token. `scope` names the list and everything that selects its rows; `position` is where the next page starts. */
  encode(scope: readonly string[], position: string): string {
    return Buffer.concat([this.#mac(scope, position), Buffer.from(position)]).toString("base64url");
  }

  /**
   * Returns the position; undefined for the first page, and for the start of a stream, whose position the field `after` has. Throws
   * CURSOR_INVALID when the token belongs to another list or stream, or was altered.
   */
  decode(scope: readonly string[], token: string, field: "page_token" | "after" = "page_token"): string | undefined {
    if (token === "") {
      return undefined;
    }
    const position = Buffer.from(token, "base64url").subarray(macBytes).toString();
    // Compares the whole text: decoders ignore invalid characters, so many texts decode to the same bytes, but only one was
    // issued.
    const expected = Buffer.from(this.encode(scope, position));
    const given = Buffer.from(token);
    if (given.length === expected.length && timingSafeEqual(given, expected)) {
      return position;
    }
    const [kind, source] = field === "after" ? ["stream", "cursor of a response"] : ["list", "next_page_token"];
    throw new Fault("CURSOR_INVALID", `${field} was not made for this ${kind}: start without one`, {
      violations: [{ field, description: `use ${source} of the same ${kind}, unchanged` }],
    });
  }

  #mac(scope: readonly string[], position: string): Buffer {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([...scope, position]))
      .digest()
      .subarray(0, macBytes);
  }
}
