// The burst row of users of Agent Runner, with one process and with two on the same port.

import type { Bench } from "../bench.ts";
import { burstRow, findFaults, measureRow } from "./peer.ts";

export const processes: Bench = {
  name: "processes",
  title: "64 signed runs at a time, 200 deltas at once, a fresh service; server.processes 1 and 2",
  notMeasured:
    "more cores than two; the provider, the client and Postgres on machines of their own; CPU of worker processes.",
  roundsMax: 5,
  async *measure(stage) {
    for (;;) {
      const [one] = await measureRow(burstRow, stage, () => stage.startService("processes-1"));
      const [two] = await measureRow(burstRow, stage, () => stage.startService("processes-2", { processes: 2 }));
      const { "per second": rateOfOne = Number.NaN } = one;
      const { "per second": rate = Number.NaN, "p50, ms": p50 = Number.NaN, "whole, %": whole = Number.NaN } = two;
      yield [
        { name: "1 process", metrics: one, faults: findFaults(one) },
        {
          name: "2 processes",
          // The primary's CPU and memory are not those of its workers.
          metrics: {
            "per second": rate,
            "per second, ratio to 1 process": rate / rateOfOne,
            "p50, ms": p50,
            "whole, %": whole,
          },
          faults: findFaults(two),
        },
      ];
    }
  },
};
