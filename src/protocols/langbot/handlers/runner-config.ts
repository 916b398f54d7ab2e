// The part of RunnerService that clients configure: bindings (which runner takes which events), agent profiles and files.

import type { ServiceImpl } from "@connectrpc/connect";
import type { AgentProfile } from "#gen/runnel/runner/v1/agent_profile_pb.js";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import type { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { nextPageToken, nextTokenOf, pageSize } from "../../../api/page.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";
import { agentProfileFromRow, agentProfileToBytes, assertAgentProfile } from "../runners/agent-profile.ts";
import { assertBinding, bindingFromRow, bindingToBytes, scopeKeyOf } from "../runners/binding.ts";
import { configFileToProto } from "../runners/to-proto.ts";
import {
  type AgentProfileRow,
  deleteAgentProfile,
  findAgentProfile,
  listAgentProfiles,
  putAgentProfile,
} from "../storage/agent-profile.ts";
import { type BindingRow, deleteBinding, findBinding, listBindings, putBinding } from "../storage/binding.ts";
import { deleteConfigFile, listConfigFiles, putConfigFile } from "../storage/config-file.ts";
import type { LangbotDeps } from "./deps.ts";
import { assertServers, hideServers } from "./mcp-servers.ts";

type RunnerConfig = Pick<
  ServiceImpl<typeof RunnerService>,
  | "putBinding"
  | "getBinding"
  | "listBindings"
  | "deleteBinding"
  | "putAgentProfile"
  | "getAgentProfile"
  | "listAgentProfiles"
  | "deleteAgentProfile"
  | "putConfigFile"
  | "listConfigFiles"
  | "deleteConfigFile"
>;

/** Creates the handlers for bindings, agent profiles and config files. */
export function createRunnerConfig({
  db,
  cursors,
  toolbox,
}: Pick<LangbotDeps, "db" | "cursors" | "toolbox">): RunnerConfig {
  return {
    putBinding: async ({ binding: wanted }, { values }) => {
      const { client } = requireClient(values);
      const binding = requireWanted(wanted, "a binding");
      assertBinding(binding);
      assertServers(toolbox, client, binding, "binding");
      const { bindingId } = binding;
      const row = await putBinding(db, {
        client,
        bindingId,
        scope: scopeKeyOf(binding),
        body: bindingToBytes(binding),
      });
      return { binding: showBinding(row) };
    },
    getBinding: async ({ bindingId }, { values }) => {
      const { client } = requireClient(values);
      return { binding: showBinding(requireBinding(await findBinding(db, { client, bindingId }))) };
    },
    listBindings: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["bindings", client];
      const limit = pageSize(request.pageSize);
      const after = cursors.decode(scope, request.pageToken);
      const page = await listBindings(db, { client, after, limit });
      return {
        bindings: page.rows.map(showBinding),
        nextPageToken: nextTokenOf(page, ({ binding_id }) => cursors.encode(scope, binding_id)),
      };
    },
    deleteBinding: async ({ bindingId }, { values }) => {
      const { client } = requireClient(values);
      requireBinding((await deleteBinding(db, { client, bindingId })) || undefined);
      return {};
    },
    putAgentProfile: async ({ agent: wanted }, { values }) => {
      const { client } = requireClient(values);
      const agent = requireWanted(wanted, "an agent");
      assertAgentProfile(agent);
      assertServers(toolbox, client, agent, "agent");
      const row = await putAgentProfile(db, { client, agentId: agent.agentId, body: agentProfileToBytes(agent) });
      return { agent: showAgent(row) };
    },
    getAgentProfile: async ({ agentId }, { values }) => {
      const { client } = requireClient(values);
      return { agent: showAgent(requireAgent(await findAgentProfile(db, { client, agentId }))) };
    },
    listAgentProfiles: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["agents", client];
      const limit = pageSize(request.pageSize);
      const after = cursors.decode(scope, request.pageToken);
      const page = await listAgentProfiles(db, { client, after, limit });
      return {
        agents: page.rows.map(showAgent),
        nextPageToken: nextTokenOf(page, ({ agent_id }) => cursors.encode(scope, agent_id)),
      };
    },
    deleteAgentProfile: async ({ agentId }, { values }) => {
      const { client } = requireClient(values);
      requireAgent((await deleteAgentProfile(db, { client, agentId })) || undefined);
      return {};
    },
    putConfigFile: async ({ fileKey, mimeType, content }, { values }) => {
      await putConfigFile(db, { client: requireClient(values).client, fileKey, mimeType, content });
      return {};
    },
    listConfigFiles: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["config files", client];
      const limit = pageSize(request.pageSize);
      const rows = await listConfigFiles(db, { client, after: cursors.decode(scope, request.pageToken), limit });
      return {
        files: rows.map(configFileToProto),
        nextPageToken: nextPageToken(rows, limit, ({ file_key }) => cursors.encode(scope, file_key)),
      };
    },
    deleteConfigFile: async ({ fileKey }, { values }) => {
      if (!(await deleteConfigFile(db, { client: requireClient(values).client, fileKey }))) {
        throw new Fault("RESOURCE_NOT_FOUND", "file not found");
      }
      return {};
    },
  };
}

function showBinding(row: BindingRow): Binding {
  return hideServers(bindingFromRow(row));
}

function showAgent(row: AgentProfileRow): AgentProfile {
  return hideServers(agentProfileFromRow(row));
}

function requireAgent<T>(agent: T | undefined): T {
  if (agent === undefined) {
    throw new Fault("AGENT_NOT_FOUND", "agent not found");
  }
  return agent;
}

function requireBinding<T>(binding: T | undefined): T {
  if (binding === undefined) {
    throw new Fault(reasons.BINDING_NOT_FOUND, "binding not found");
  }
  return binding;
}

/** Returns the message. Request validation requires it, so its absence is INTERNAL. */
function requireWanted<T>(wanted: T | undefined, what: string): T {
  if (wanted === undefined) {
    throw new Fault("INTERNAL", `the request has no ${what} after its validation`);
  }
  return wanted;
}
