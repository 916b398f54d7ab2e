// The protocols of this service: each is a folder of src/protocols and one line here.

import type { DescService } from "@bufbuild/protobuf";
import type { Protocol } from "../api/protocol.ts";
import { coreServices } from "../api/router.ts";
import type { Retention } from "../engine/storage/retention.ts";
import { agentRunner } from "../protocols/agent-runner/protocol.ts";
import { community } from "../protocols/community/protocol.ts";
import { exchange } from "../protocols/exchange/protocol.ts";
import { jobspec } from "../protocols/jobspec/protocol.ts";
import { langbot } from "../protocols/langbot/protocol.ts";

export const protocols: readonly Protocol[] = [agentRunner, langbot, jobspec, exchange, community];

/** All services of the contract, for surfaces that read descriptors. */
export const services: readonly DescService[] = [
  ...coreServices,
  ...protocols.flatMap((protocol) => protocol.services),
];

export const retention: readonly Retention[] = protocols.flatMap((protocol) => protocol.retention ?? []);
