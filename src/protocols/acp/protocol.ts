// The Agent Client Protocol: coding agents of the operator as runners. A program speaks it over its standard input and output.

import type { Protocol } from "../../api/protocol.ts";
import { createCodingAgent, driverName } from "./driver.ts";
import { acpSettings } from "./settings.ts";
import { deleteAcpSessions } from "./storage/acp-session.ts";

/** The protocol of coding agents. It has no service of its own: sessions are the core's. */
export const acp: Protocol = {
  name: "acp",
  settings: acpSettings,
  services: [],
  retention: { deleteOfSessions: deleteAcpSessions },
  open: async ({ config, connections: { db }, clock }, { toolbox: { commands }, wakeup }) => ({
    drivers: [
      createCodingAgent({ agents: config.acpAgents, programsMax: config.acpProgramsMax, commands, clock, db, wakeup }),
    ],
    runners: config.acpAgents.map(({ name, clients }) => ({ name, clients, driver: driverName })),
    serve: () => ({ services: [] }),
  }),
};
