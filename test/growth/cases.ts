// All readers and printers of what comes from outside, each with the inputs that could make it slow.

import { jsonCases } from "./cases/json.ts";
import { modelCases } from "./cases/models.ts";
import { protocolCases } from "./cases/protocols.ts";
import { requestCases } from "./cases/requests.ts";
import { specCases } from "./cases/specs.ts";
import { surfaceCases } from "./cases/surfaces.ts";
import { toolCases } from "./cases/tools.ts";
import type { GrowthCase } from "./growth.ts";

/** Every case. Names are unique. */
export const growthCases: readonly GrowthCase[] = [
  ...jsonCases,
  ...requestCases,
  ...modelCases,
  ...toolCases,
  ...specCases,
  ...protocolCases,
  ...surfaceCases,
];
