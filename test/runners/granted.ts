// Grants for tests: a manifest, a binding and an event, over resources that are there.

import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { BindingSchema } from "#gen/runnel/runner/v1/binding_pb.js";
import { AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { authorize, type ResourceFinder } from "../../src/protocols/langbot/runners/authorize.ts";
import { scopeOfEvent } from "../../src/protocols/langbot/runners/event-scope.ts";
import { readManifest } from "../../src/protocols/langbot/runners/manifest.ts";
import { greedyManifest, runnerId } from "./manifests.ts";

/** The existing resources: every name that begins with its kind. */
const finder: ResourceFinder = {
  findModel: (id) => {
    if (id.startsWith("rank")) {
      return { provider: "p", type: "rerank" };
    }
    return id.startsWith("llm") ? { provider: "p", type: "llm", contextTokens: 1_000 } : undefined;
  },
  findTool: (name) => (name.startsWith("tool") ? { description: "does", parameters: { type: "object" } } : undefined),
  findKnowledgeBases: async (client, ids) =>
    new Map(ids.filter((id) => id.startsWith("kb") && client === "key/a").map((id) => [id, { name: "facts" }])),
  listServerTools: async (servers) => {
    const names = servers.map(({ name }) => `${name}_search`);
    return {
      tools: names.map((name) => ({ name, description: "searches", parameters: { type: "object" } })),
      kept: servers.map(({ name: server }) => ({
        ...{ server, tool: "search", name: `${server}_search`, description: "searches", schema: "{}" },
      })),
    };
  },
};

/** An event with every member. */
export const fullEvent = {
  eventId: "e-1",
  eventType: "message.received",
  botId: "bot",
  workspaceId: "space",
  conversationId: "talk",
  threadId: "thread",
  actor: { actorType: "user", actorId: "ada" },
  subject: { subjectType: "message", subjectId: "m-1" },
} as const satisfies EventInit;

/** A binding that allows everything. */
export const openBinding = {
  bindingId: "b",
  runnerId,
  resourcePolicy: {
    allowedModels: ["llm-policy"],
    allowedTools: ["tool-a"],
    allowedKnowledgeBases: ["kb-a"],
    skills: [{ skillName: "skill-a", description: "is good at it" }],
    allowPluginStorage: true,
    allowWorkspaceStorage: true,
  },
  statePolicy: { stateScopes: ["conversation", "actor", "subject", "runner"] },
  runnerConfig: JSON.stringify({
    model: "llm-config",
    fallback: { primary: "llm-first", fallbacks: ["llm-second", "gone"] },
    rerank: "rank-config",
    faq: "faq.txt",
    more: [{ file_key: "one.txt", mimetype: "text/plain" }, { file_key: "two.txt" }],
    greeting: "llm-in-a-text",
  }),
} as const satisfies BindingInit;

/** The plain fields of a message. */
type FieldsOf<S extends DescMessage> = Extract<MessageInitShape<S>, { readonly $typeName?: never }>;
export type BindingInit = FieldsOf<typeof BindingSchema>;
export type EventInit = FieldsOf<typeof AgentEventSchema>;

export interface GrantCase {
  readonly manifest?: string;
  readonly binding?: BindingInit;
  readonly event?: EventInit;
}

/** Returns the grant of a case, with all of its inputs. */
export async function decide({ manifest = greedyManifest, binding = {}, event = fullEvent }: GrantCase = {}) {
  const asked = {
    event: create(AgentEventSchema, event),
    binding: create(BindingSchema, { ...openBinding, ...binding }),
  };
  const scope = scopeOfEvent(asked.event, { client: "key/a", runnerId, bindingId: "b" });
  const session = "s-1";
  const authorized = await authorize(
    { manifest: readManifest(manifest), binding: asked.binding, scope, session },
    finder,
  );
  return { ...asked, scope, authorized, ...authorized };
}
