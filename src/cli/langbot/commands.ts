// The commands of LangBot's runners.

import type { ProtocolCommands } from "../protocol-commands.ts";

/** The commands of LangBot's runners. */
export const langbotCommands: ProtocolCommands = {
  commands: [
    {
      name: "runners",
      about: "list runners, bind events to them, start runs, review their results",
      load: async () => (await import("./runners.ts")).defineRunners,
    },
  ],
};
