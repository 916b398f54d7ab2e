// The commands of the copy-and-paste protocol.

import type { ProtocolCommands } from "../protocol-commands.ts";
import { addExchange } from "./exchange.ts";

/** The commands of the copy-and-paste protocol. */
export const exchangeCommands: ProtocolCommands = { addTo: addExchange };
