// ProviderService: the model providers and their circuit breakers, as this replica sees them.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Provider_Circuit, type ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { CircuitState } from "../agent/models/breaker.ts";
import type { ProviderStatus } from "../agent/models/open.ts";
import type { ServiceDeps } from "./deps.ts";

/** Returns the handlers of ProviderService. */
export function createProviderService({ models, clock }: ServiceDeps): ServiceImpl<typeof ProviderService> {
  return {
    listProviders: () => ({
      providers: models.listProviders().map((status) => providerToProto(status, clock.nowMs())),
    }),
  };
}

const circuits = {
  closed: Provider_Circuit.CLOSED,
  open: Provider_Circuit.OPEN,
  "half-open": Provider_Circuit.HALF_OPEN,
} as const satisfies Record<CircuitState, Provider_Circuit>;

function providerToProto({ name, circuit }: ProviderStatus, nowMs: number) {
  if (circuit === undefined) {
    return { name, configured: false };
  }
  const { state, failures, retryInMs } = circuit;
  const retryTime = retryInMs > 0 ? { retryTime: timestampFromMs(nowMs + retryInMs) } : {};
  return { name, configured: true, circuit: circuits[state], failures, ...retryTime };
}
