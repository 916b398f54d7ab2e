// The entry of `@runnel/client` in Node.

import { Runnel } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { openNodeConnections } from "./node-connections.ts";

// biome-ignore-start lint/performance/noBarrelFile: this is the list of what the package offers.
export type { CallerFunction } from "./ask.ts";
export { type CallbackBody, type ReceivedCallback, verifyCallback } from "./callback.ts";
export { Runnel } from "./client.ts";
export type { Credentials } from "./credentials.ts";
export { type RunnelCode, RunnelError, type Violation } from "./error.ts";
export type { FollowOptions } from "./follow.ts";
export { type ReceiptStatement, type ReceivedReceipt, verifyReceipt } from "./receipt.ts";
export { isTerminal, type RunEnd, type RunStream } from "./run-stream.ts";
export type { SendOptions } from "./send-options.ts";
export { RunText } from "./text.ts";
export type { CallLimits } from "./wait.ts";
// biome-ignore-end lint/performance/noBarrelFile: see above.

/** Returns a client of the service at `url`. It connects when its first call needs it. */
export function connect(url: string, credentials: Credentials = {}): Runnel {
  return new Runnel(url, credentials, openNodeConnections);
}
