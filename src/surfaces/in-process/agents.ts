// The agents that callers know by their names: the presets of the service, and the agents that protocols offer to the caller.

import type { ContextValues } from "@connectrpc/connect";
import type { ArtifactCreated } from "#gen/runnel/v1/result_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { OfferedAgent, OfferedAgents } from "../../platform/base/offered-agents.ts";
import type { Calls } from "./calls.ts";

/** An agent. */
export interface NamedAgent {
  readonly name: string;
  /** For people; empty for none. */
  readonly title: string;
  readonly description: string;
  /** The agent of a protocol; undefined for a preset. */
  readonly offered: { readonly source: OfferedAgents; readonly agent: OfferedAgent } | undefined;
}

/** Returns the caller's agents in a stable order, presets first. An agent of the caller's own hides a preset of its name. */
export async function findAgents(calls: Calls, sources: readonly OfferedAgents[]): Promise<readonly NamedAgent[]> {
  const { presets } = await calls.call(SessionService.method.listPresets, {});
  const agents = new Map(presets.map(({ name, model }) => [name, agentOfPreset(name, model)]));
  for (const source of sources) {
    for (const agent of await source.list((method, request) => calls.call(method, request))) {
      if (names.test(agent.name)) {
        agents.set(agent.name, { ...agent, description: describe(agent), offered: { source, agent } });
      }
    }
  }
  return [...agents.values()];
}

/** Returns the content of an artifact that is not in the log, in base64; undefined without one. `values` name the caller. */
export async function readArtifact(
  sources: readonly OfferedAgents[],
  values: ContextValues,
  runId: string,
  artifactId: string,
): Promise<string | undefined> {
  for (const source of sources) {
    const content = await source.readArtifact(values, runId, artifactId);
    if (content !== undefined) {
      return Buffer.from(content).toString("base64");
    }
  }
  return undefined;
}

/** Returns the id of an artifact. The host chooses one for its storage; in the log the sequence is one. */
export function artifactIdOf(sequence: bigint, { artifactId }: ArtifactCreated): string {
  return artifactId === undefined || artifactId === "" ? String(sequence) : artifactId;
}

const names = /^[A-Za-z0-9._-]{1,128}$/;

function agentOfPreset(name: string, model: string): NamedAgent {
  const withModel = model === "" ? "" : ` with the model ${model}`;
  const description = `Runs the agent ${name}${withModel}, and returns its answer.`;
  return { name, title: "", description, offered: undefined };
}

function describe({ name, title, description }: OfferedAgent): string {
  return description || title || `Runs the agent ${name}, and returns its answer.`;
}
