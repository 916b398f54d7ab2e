// A worker as a process of its own, to be killed: says a few words in each run, at a pace. It is started with the service's URL,
// a key and how many runs it works on at a time, and prints the id of each run that it was given. One that is to be killed holds every
// tenth run in the middle, so that a kill finds some at work however slow the machine is.

import { setTimeout as delay } from "node:timers/promises";
import { completed, delta } from "../../../clients/typescript/runner.ts";
import { runWorker } from "../../../clients/typescript/worker.ts";

const [url = "", apiKey = "", maxConcurrent = "1", id = "", name = "", fate = ""] = process.argv.slice(2);
const words = 5;
const paceMs = 40;

await runWorker({
  url,
  apiKey,
  workerId: "tests",
  maxConcurrent: Number(maxConcurrent),
  runners: [
    {
      manifest: { id, name, label: { en_US: "Speaks at a pace" }, capabilities: { streaming: true } },
      run: async function* ({ context }) {
        process.stdout.write(`${context.runId}\n`);
        for (let word = 1; word <= words; word++) {
          yield delta(`${context.input?.text} ${word}; `);
          await delay(paceMs);
          if (fate === "to be killed" && word === 2 && context.input?.text?.endsWith("0") === true) {
            await new Promise(() => {});
          }
        }
        yield completed();
      },
    },
  ],
});
