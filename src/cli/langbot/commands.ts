// The commands of LangBot's runners.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { addRunners } from "./runners.ts";

/** The commands of LangBot's runners. */
export const langbotCommands: ProtocolCommands = { addTo: addRunners };
