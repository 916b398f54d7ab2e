// The commands of the JobSpec contract: jobs, what signs them, and whose signatures count.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { addJobs } from "./jobs.ts";
import { addKeyPairs } from "./key-pairs.ts";
import { addSign } from "./sign.ts";
import { addTrust } from "./trust.ts";
import { jobSpecFormat } from "./verify.ts";

export const jobspecCommands: ProtocolCommands = {
  addTo: (program) => {
    addJobs(program);
    addSign(program);
    addTrust(program);
    const keys = program.commands.find((command) => command.name() === "keys");
    if (keys !== undefined) {
      addKeyPairs(keys);
    }
  },
  signedFormat: jobSpecFormat,
};
