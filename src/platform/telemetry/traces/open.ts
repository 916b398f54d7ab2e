// Opens the traces of this process.

import { noTraces, type Traces, type TracesOptions } from "../traces.ts";

/** Returns traces, or `noTraces` without an endpoint, which loads no library. */
export async function openTraces(options: TracesOptions): Promise<Traces> {
  if (options.endpoint === "") {
    return noTraces;
  }
  const { recordTraces } = await import("./record.ts");
  return recordTraces(options);
}
