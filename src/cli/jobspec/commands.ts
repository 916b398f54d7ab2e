// The commands of the JobSpec contract: jobs, signing, and trusted keys.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { addJobs } from "./jobs.ts";
import { addKeyPairs } from "./key-pairs.ts";
import { addSign } from "./sign.ts";
import { addTrust } from "./trust.ts";
import { jobSpecFormat } from "./verify.ts";

/** The commands of the JobSpec contract. */
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
