// `runnel providers`: lists the model providers of the service, as the answering replica sees them.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { type Provider, Provider_Circuit, ProviderSchema } from "#gen/runnel/v1/provider_service_pb.js";
import { withAdministration } from "./connect.ts";
import { example } from "./example.ts";
import { type ListView, printList } from "./list-view.ts";
import { outputOf, printsIds } from "./output.ts";
import { showTime } from "./table.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

/** Defines `providers`. */
export function defineProviders(command: Command): void {
  printsIds(addServiceFlags(command))
    .addHelpText("after", example("RUNNEL_ADMIN_TOKEN=$(cat admin.token) runnel providers"))
    .action((flags: ServiceFlags) =>
      withAdministration(flags, async ({ providers }) => {
        const response = await providers.listProviders({});
        await printList(outputOf(command), providerList, response.providers);
      }),
    );
}

const providerList: ListView<typeof ProviderSchema> = {
  ...{ name: "providers", schema: ProviderSchema, id: ({ name }) => name, row: rowOf },
  columns: ["PROVIDER", "CONFIGURED", "CIRCUIT", "FAILURES", "RETRY AT"],
};

const circuitWords: Readonly<Record<Provider_Circuit, string>> = {
  [Provider_Circuit.UNSPECIFIED]: "–",
  [Provider_Circuit.CLOSED]: "closed",
  [Provider_Circuit.OPEN]: "open",
  [Provider_Circuit.HALF_OPEN]: "half open",
};

function rowOf({ name, configured, circuit, failures, retryTime }: Provider): string[] {
  // A newer service may have states that this version does not know.
  const place = circuitWords[circuit] ?? `place ${circuit}`;
  const retry = showTime(retryTime && timestampDate(retryTime));
  return [name, configured ? "yes" : "no", place, String(failures), retry];
}
