// Joins the services and the retention of the core and of all protocols.

import type { DescService } from "@bufbuild/protobuf";
import type { Protocol } from "../api/protocol.ts";
import { coreServices } from "../api/router.ts";
import type { Retention } from "../engine/storage/retention.ts";
import * as list from "./protocol-list.ts";

/** All protocols, in the order of the list. */
export const protocols: readonly Protocol[] = Object.values(list);

/** All services of the contract, for surfaces that read descriptors. */
export const services: readonly DescService[] = [
  ...coreServices,
  ...protocols.flatMap((protocol) => protocol.services),
];

/** The retention rules of all protocols. */
export const retention: readonly Retention[] = protocols.flatMap((protocol) => protocol.retention ?? []);
