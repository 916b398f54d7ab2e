// Joins the services, the retention and the checks of the core and of all protocols.

import type { DescService } from "@bufbuild/protobuf";
import type { Protocol } from "../api/protocol.ts";
import { coreServices } from "../api/router.ts";
import type { Retention } from "../engine/storage/retention.ts";
import type { Config } from "../platform/config/keys.ts";
import type { Problem } from "../platform/config/problem.ts";
import * as list from "./protocol-list.ts";

export const protocols: readonly Protocol[] = Object.values(list);

/** All services of the contract, for surfaces that read descriptors. */
export const services: readonly DescService[] = [
  ...coreServices,
  ...protocols.flatMap((protocol) => protocol.services),
];

export const retention: readonly Retention[] = protocols.flatMap((protocol) => protocol.retention ?? []);

/** Returns what is wrong with the settings of protocols. */
export function findProtocolProblems(config: Config): readonly Problem[] {
  return protocols.flatMap((protocol) => protocol.findProblems?.(config) ?? []);
}
