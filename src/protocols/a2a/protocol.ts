// A2A, the client side: agents elsewhere as runners. The server side is a surface.

import type { Protocol } from "../../api/protocol.ts";
import { createA2aRunner, driverName } from "./driver.ts";
import { failpoints } from "./failpoints.ts";
import { a2aSettings } from "./settings.ts";
import { deleteContexts } from "./storage/a2a-context.ts";

/** The protocol of A2A agents as runners. It has no service of its own: sessions are the core's. */
export const a2a: Protocol = {
  name: "a2a",
  settings: a2aSettings,
  services: [],
  failpoints,
  retention: { deleteOfSessions: deleteContexts },
  open: async ({ config, connections: { db }, clock, egress }) => ({
    drivers: [createA2aRunner({ agents: config.a2aAgents, clock, db, egress })],
    runners: config.a2aAgents.map(({ name, clients }) => ({ name, clients, driver: driverName })),
    serve: () => ({ services: [] }),
  }),
};
