// The commands of LangBot's runners.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { addRunners } from "./runners.ts";

export const langbotCommands: ProtocolCommands = { addTo: addRunners };
