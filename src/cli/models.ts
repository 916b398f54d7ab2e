// Names of models: the one that a person probably meant.

import { ConnectError } from "@connectrpc/connect";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { findNearest } from "../platform/base/nearest.ts";
import { CommandError } from "./command-error.ts";
import { reasonOf, type Service } from "./connect.ts";

/** Returns the listed model whose name is nearest, or undefined. */
export async function findNearestModel({ client }: Pick<Service, "client">, name: string): Promise<string | undefined> {
  const { models } = await client(ProviderService).listModels({});
  const names = models.map((model) => model.name);
  return names.includes(name) ? undefined : findNearest(name.toLowerCase(), names);
}

/** Makes a call that names a model. When the service refuses its name, the error has the nearest one. */
export async function withModelHint<T>(
  service: Pick<Service, "client">,
  name: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    const nearest = reasonOf(cause) === "MODEL_UNSUPPORTED" ? await findNearestModel(service, name) : undefined;
    if (nearest === undefined) {
      throw cause;
    }
    const { rawMessage } = ConnectError.from(cause);
    throw new CommandError(rawMessage, { reason: "MODEL_UNSUPPORTED", fix: `did you mean ${nearest}?`, cause });
  }
}
