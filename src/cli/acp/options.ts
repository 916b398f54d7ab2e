// What an editor may choose for a session: the agent until its first message, and the model of the next runs.

import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import type { Service } from "../connect.ts";
import { invalid } from "./refusals.ts";

/** The agents and the models of a service. */
export interface Choices {
  /** Names of the presets. */
  readonly agents: readonly string[];
  readonly models: readonly string[];
}

/** What a session has now. */
export interface Chosen {
  readonly agent: string;
  /** Undefined for the model of the agent. */
  readonly model: string | undefined;
  /** Whether a message was sent: the agent is fixed then. */
  readonly isBegun: boolean;
}

/** The value of the option for the model of the agent. */
export const ownModel = "default";

/** Reads what the service offers. */
export async function readChoices({ sessions, client }: Service): Promise<Choices> {
  const [{ presets }, { models }] = await Promise.all([
    sessions.listPresets({}),
    client(ProviderService).listModels({}),
  ]);
  return { agents: presets.map(({ name }) => name), models: models.map(({ name }) => name) };
}

/** Returns the options as an editor shows them. */
export function optionsOf({ agents, models }: Choices, { agent, model, isBegun }: Chosen): SessionConfigOption[] {
  const others = models.map((name) => ({ value: name, name }));
  const unlisted = model === undefined || models.includes(model) ? [] : [{ value: model, name: model }];
  return [
    {
      type: "select",
      id: "agent",
      name: "Agent",
      category: "mode",
      currentValue: agent,
      options: (isBegun ? [agent] : agents).map((name) => ({ value: name, name })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: model ?? ownModel,
      options: [{ value: ownModel, name: "The agent's own" }, ...unlisted, ...others],
    },
  ];
}

/** Throws RequestError unless the option has this value. */
export function assertChoice(options: readonly SessionConfigOption[], id: string, value: string | boolean): void {
  const option = options.find((each) => each.id === id);
  if (option?.type !== "select") {
    throw invalid(`unknown configId ${JSON.stringify(id)}: use "agent" or "model"`);
  }
  const values = option.options.flatMap((each) => ("value" in each ? [each.value] : []));
  if (!values.includes(String(value))) {
    const fixed = id === "agent" && values.length === 1 ? "; a session keeps its agent from its first message on" : "";
    throw invalid(`invalid value ${JSON.stringify(value)} of ${id}: use ${values.join(", ")}${fixed}`);
  }
}
