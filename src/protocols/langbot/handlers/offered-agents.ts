// The agents that other surfaces offer by name: those to which a binding of the scope `agent` gives messages.

import { type Binding, BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { requireClient } from "../../../platform/auth/caller.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { pageSizeMax, readPages } from "../../../platform/base/lists.ts";
import type { CallMethod, OfferedAgent, OfferedAgents } from "../../../platform/base/offered-agents.ts";
import { readRunArtifact } from "../storage/artifact.ts";
import type { LangbotDeps } from "./deps.ts";

const runners = RunnerService.method;

/** The type of the events that such a message is. */
const eventType = "message.received";

/** Offers the agents of the caller's bindings. */
export function offerAgents({ db }: Pick<LangbotDeps, "db">): OfferedAgents {
  return {
    list: async (call) => {
      const all = await readPages(async (pageToken) => {
        const page = await call(runners.listBindings, { pageSize: pageSizeMax, pageToken });
        return { items: page.bindings, nextPageToken: page.nextPageToken };
      });
      const bindings = all.filter(takesMessages);
      if (bindings.length === 0) {
        return [];
      }
      const [profiles, manifests] = [await listProfiles(call), await listManifests(call)];
      const agents = new Map<string, OfferedAgent>();
      for (const { scope, agentId, runnerId } of bindings) {
        const runner = manifests.get(agentId === "" ? runnerId : (profiles.get(agentId) ?? ""));
        // Without a runner each call would fail.
        if (runner !== undefined) {
          agents.set(scope?.id ?? "", { ...runner, name: scope?.id ?? "" });
        }
      }
      return [...agents.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
    start: async (call, { name }, { id: eventId, source, senderId, text, conversationId, annotations }) => {
      const event = {
        eventId,
        eventType,
        source,
        ...(senderId !== undefined && { rawRef: { refId: senderId } }),
        agentId: name,
        conversationId,
        actor: { actorType: "user" },
        input: { text },
      };
      const { run } = await call(runners.startRun, { event, annotations });
      return run?.runId ?? "";
    },
    readArtifact: async (values, runId, artifactId) => {
      const { client } = requireClient(values);
      return await readRunArtifact(db, { client, runId, artifactId });
    },
  };
}

function takesMessages({ enabled, eventTypes, scope }: Binding): boolean {
  const isForMessages = eventTypes.length === 0 || eventTypes.includes(eventType);
  return enabled !== false && isForMessages && scope?.kind === BindingScope_Kind.AGENT;
}

/** Returns the runner of each profile. */
async function listProfiles(call: CallMethod): Promise<ReadonlyMap<string, string>> {
  const all = await readPages(async (pageToken) => {
    const page = await call(runners.listAgentProfiles, { pageSize: pageSizeMax, pageToken });
    return { items: page.agents, nextPageToken: page.nextPageToken };
  });
  return new Map(all.map(({ agentId, runnerId }) => [agentId, runnerId]));
}

async function listManifests(call: CallMethod): Promise<ReadonlyMap<string, Omit<OfferedAgent, "name">>> {
  const all = await readPages(async (pageToken) => {
    const page = await call(runners.listRunners, { pageSize: pageSizeMax, pageToken });
    return { items: page.runners, nextPageToken: page.nextPageToken };
  });
  return new Map(
    all.map(({ runnerId, manifest }) => [
      runnerId,
      {
        title: textOf(manifest?.label),
        description: textOf(manifest?.description),
        metadata: parseObject(manifest?.metadata ?? "{}") ?? {},
      },
    ]),
  );
}

/** Returns the English text of a JSON object of texts by locale, else its first one. */
function textOf(locales: string | undefined): string {
  const texts = parseObject(locales ?? "{}") ?? {};
  const text = texts.en_US ?? Object.values(texts)[0];
  return typeof text === "string" ? text : "";
}
