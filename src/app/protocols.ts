// Joins the services and the retention of the core and of all protocols.

import type { DescService } from "@bufbuild/protobuf";
import type { Protocol } from "../api/protocol.ts";
import { coreServices } from "../api/router.ts";
import type { Retention } from "../engine/storage/retention.ts";
import * as list from "./protocol-list.ts";

export const protocols: readonly Protocol[] = Object.values(list);

/** All services of the contract, for surfaces that read descriptors. */
export const services: readonly DescService[] = [
  ...coreServices,
  ...protocols.flatMap((protocol) => protocol.services),
];

export const retention: readonly Retention[] = protocols.flatMap((protocol) => protocol.retention ?? []);
