// How long a run of a runner may take: `timeout` of the runner's configuration, in seconds.

import { invalidField } from "../../../platform/base/fault.ts";
import { type JsonObject, memberOf } from "../../../platform/base/json/free.ts";

const timeoutDefaultMs = 300_000;
/** The host's maximum: whoever asks for more gets this. */
const timeoutMaxMs = 3_600_000;

/** Throws INVALID_ARGUMENT that names the field `path`. */
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
    const fix = "must be a number of seconds above 0, or null for the longest time that there is";
    throw invalidField(`${path}.timeout`, fix);
  }
  return Math.max(1, Math.min(Math.round(seconds * 1_000), timeoutMaxMs));
}
