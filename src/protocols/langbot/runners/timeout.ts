// The timeout of a run of a runner: `timeout` of the runner's configuration, in seconds.

import { invalidField } from "../../../platform/base/fault.ts";
import { type JsonObject, memberOf } from "../../../platform/base/json/free.ts";

const timeoutDefaultMs = 300_000;
/** The host's maximum. A longer timeout is reduced to it. */
const timeoutMaxMs = 3_600_000;

/**
 * Returns the timeout in milliseconds. Null means the maximum. Throws Fault INVALID_ARGUMENT, which names the field below
 * `path`.
 */
export function readTimeoutMs(text: string, config: JsonObject, path: string): number {
  const node = memberOf(config, "timeout");
  if (node === undefined) {
    return timeoutDefaultMs;
  }
  if (node.kind === "null") {
    return timeoutMaxMs;
  }
  const seconds = node.kind === "number" ? Number(text.slice(node.start, node.end)) : 0;
  if (!(seconds > 0)) {
    const fix = "must be a number of seconds above 0, or null for the maximum";
    throw invalidField(`${path}.timeout`, fix);
  }
  return Math.max(1, Math.min(Math.round(seconds * 1_000), timeoutMaxMs));
}
