// Measures the growth of cases, and prints one line of JSON for each. It runs in a process of its own, with `meterFlags`:
//
//   node <meterFlags> test/growth/measure.ts ./cases.ts [part of a name]

import { WorkMeter } from "../harness/work-meter.ts";
import { type GrowthCase, measureGrowth } from "./growth.ts";

const [file = "", part = ""] = process.argv.slice(2);
using meter = new WorkMeter();
// Loaded after the meter is open, so that it counts the blocks of the readers.
const { growthCases }: { growthCases: readonly GrowthCase[] } = await import(file);
for (const each of growthCases.filter(({ reader, input }) => `${reader}: ${input}`.includes(part))) {
  const { reader, input, limit } = each;
  process.stdout.write(`${JSON.stringify({ reader, input, limit, doublings: await measureGrowth(meter, each) })}\n`);
}
process.exit(0);
