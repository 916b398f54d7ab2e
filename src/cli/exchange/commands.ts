// The commands of the copy-and-paste protocol.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { exchangeFixes } from "./fixes.ts";

/** The commands of the copy-and-paste protocol. */
export const exchangeCommands: ProtocolCommands = {
  commands: [
    {
      name: "exchange",
      about: "carry a task between a workspace and any chat window by text files",
      load: async () => (await import("./exchange.ts")).defineExchange,
    },
  ],
  fixes: exchangeFixes,
};
