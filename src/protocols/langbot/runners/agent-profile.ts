// Agents: settings of a runner that any number of bindings can share.

import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AgentProfile, AgentProfileSchema } from "#gen/runnel/runner/v1/agent_profile_pb.js";
import { type Binding, BindingSchema } from "#gen/runnel/runner/v1/binding_pb.js";
import { Fault } from "../../../platform/base/fault.ts";
import type { Db } from "../../../platform/database/database.ts";
import { type AgentProfileRow, findAgentProfile } from "../storage/agent-profile.ts";
import { assertRunnerTerms } from "./binding.ts";

/** Checks what the validation of single fields cannot. Throws Fault INVALID_ARGUMENT, which names the field. */
export function assertAgentProfile(profile: AgentProfile): void {
  assertRunnerTerms(AgentProfileSchema, profile, "agent");
}

/** Encodes an agent profile. Its times are left out, since they are columns of the row. */
export function agentProfileToBytes(profile: AgentProfile): Uint8Array {
  const body = clone(AgentProfileSchema, profile);
  delete body.createTime;
  delete body.updateTime;
  return toBinary(AgentProfileSchema, body);
}

/** Decodes an agent profile, with the times of its row. */
export function agentProfileFromRow(row: AgentProfileRow): AgentProfile {
  const profile = fromBinary(AgentProfileSchema, row.body);
  profile.createTime = timestampFromDate(row.create_time);
  profile.updateTime = timestampFromDate(row.update_time);
  return profile;
}

/** Returns the binding with the runner's settings of its agent. Throws Fault AGENT_NOT_FOUND. */
export async function withAgent(db: Db, client: string, binding: Binding): Promise<Binding> {
  const { agentId, bindingId } = binding;
  if (agentId === "") {
    return binding;
  }
  const row = await findAgentProfile(db, { client, agentId });
  if (row === undefined) {
    const name = JSON.stringify(bindingId);
    throw new Fault("AGENT_NOT_FOUND", `binding ${name} names agent ${agentId}, which does not exist: put it first`);
  }
  const { runnerId, runnerConfig, resourcePolicy, statePolicy, deliveryPolicy, approvalPolicy } =
    agentProfileFromRow(row);
  return create(BindingSchema, {
    ...binding,
    runnerId,
    ...(runnerConfig !== undefined && { runnerConfig }),
    ...(resourcePolicy && { resourcePolicy }),
    ...(statePolicy && { statePolicy }),
    ...(deliveryPolicy && { deliveryPolicy }),
    ...(approvalPolicy && { approvalPolicy }),
  });
}
