// Replaces settings of an agent for one run or for a fork.

import { create } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";

/** Returns the agent with each field that `replacing` sets. Returns the same agent when `replacing` is undefined. */
export function replaceSettings(agent: Agent, replacing: Agent | undefined): Agent {
  if (replacing === undefined) {
    return agent;
  }
  const given = reflect(AgentSchema, replacing, false);
  const names = AgentSchema.fields
    .filter((field) => given.isSet(field))
    .map(({ localName }) => localName as keyof Agent);
  return create(AgentSchema, { ...agent, ...Object.fromEntries(names.map((name) => [name, replacing[name]])) });
}
