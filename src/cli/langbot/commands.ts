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
  fixes: {
    RUNNER_NOT_FOUND: "`runnel runners list` shows the ids; its worker registers a runner",
    BINDING_NOT_FOUND: "`runnel runners bindings` shows what there is, `runnel runners bind <file>` puts one",
    BINDING_AMBIGUOUS: "disable or delete all but one: `runnel runners unbind <id>`",
  },
};
