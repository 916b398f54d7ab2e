// A worker process for kills: writes a few words in each run, at a pace. Its arguments are the service's URL, a key and its
// number of concurrent runs; it prints the id of each run that it was given. A worker "to be killed" holds every tenth run in
// the middle, so a kill always finds some runs at work, even on a slow machine.

import { setTimeout as delay } from "node:timers/promises";
import { completed, delta } from "../../../clients/typescript/src/worker/runner.ts";
import { runWorker } from "../../../clients/typescript/src/worker/worker.ts";

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
