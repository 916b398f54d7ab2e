// The commands of the JobSpec contract: jobs, signing, and trusted keys.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { fixOfRefusedSpec } from "./refused-spec.ts";

/** The commands of the JobSpec contract. */
export const jobspecCommands: ProtocolCommands = {
  commands: [
    {
      name: "jobs",
      about: "submit, list, follow and cancel signed jobs",
      load: async () => (await import("./jobs.ts")).defineJobs,
    },
    {
      name: "sign",
      about: "sign a JobSpec from a file or standard input; works offline",
      load: async () => (await import("./sign.ts")).defineSign,
    },
    {
      name: "trust",
      about: "manage the keys whose JobSpecs the service runs; requires RUNNEL_ADMIN_TOKEN",
      load: async () => (await import("./trust.ts")).defineTrust,
    },
  ],
  fixes: {
    JOB_NOT_FOUND: "`runnel jobs list` shows the ids",
    KEY_NOT_FOUND: "`runnel trust list` shows the names",
    KEY_EXISTS: "`runnel trust list` shows it; `runnel trust update` changes when, for whom and where it is good",
    KEY_REVOKED: "`runnel trust add` adds another key",
  },
  fixOfCode: fixOfRefusedSpec,
  loadKeys: async () => (await import("./key-pairs.ts")).defineKeyPairs,
  loadSignedFormat: async () => (await import("./verify.ts")).jobSpecFormat,
};
