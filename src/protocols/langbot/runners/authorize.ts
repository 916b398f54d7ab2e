// Decides what a run may use: what its manifest asks for, as far as the binding allows it and the event has it. It is decided
// once, when the run starts. Every call is checked against the grant; the runner gets the resources.
//
// A1  Nothing is granted that the manifest does not ask for, or that the binding does not allow.
// A2  A resource that this service does not find is not granted.
// A3  Operations are always listed. A resource without operations is left out.
// A4  The tools of MCP servers are those that the servers list at the start of the run. A server without a list refuses the start.

import { create } from "@bufbuild/protobuf";
import {
  type AgentResources,
  AgentResourcesSchema,
  type FileResource,
  FileResourceSchema,
  type KnowledgeBaseResource,
  KnowledgeBaseResourceSchema,
  type ModelResource,
  ModelResourceSchema,
  type ToolResource,
  ToolResourceSchema,
} from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import type { RunnerManifest, RunnerPermissions, RunnerPermissionsSchema } from "#gen/runnel/runner/v1/runner_pb.js";
import type { McpServer } from "#gen/runnel/v1/session_pb.js";
import { configOf } from "./binding.ts";
import { textsOfFields } from "./config-fields.ts";
import { deliveryOf } from "./delivery.ts";
import { type Api, apis, type Grant, type Operations } from "./grant.ts";
import type { KeptServers } from "./kept-servers.ts";
import { isStateScope, type RunScope, type StateScope, stateKey } from "./scope.ts";

/** Finds the resources that can be granted. */
export interface ResourceFinder {
  readonly findModel: (id: string) => FoundModel | undefined;
  readonly findTool: (name: string) => FoundTool | undefined;
  /** Returns the knowledge bases that the client has, by id. */
  readonly findKnowledgeBases: (
    client: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, FoundKnowledgeBase>>;
  /** Lists the tools of MCP servers. Throws Fault MCP_SERVER_FAILED when one of them gives no list. */
  readonly listServerTools: (servers: readonly McpServer[], run: ListingRun) => Promise<ListedServerTools>;
}

/** The run that lists the tools of its servers. */
export interface ListingRun {
  readonly client: string;
  /** The session of the run, in which the programs of servers work. */
  readonly session: string;
  /** The names of its other tools. */
  readonly taken: readonly string[];
}

/** The tools of MCP servers, as a runner sees them and as the run keeps them. */
export interface ListedServerTools {
  readonly tools: readonly (FoundTool & { readonly name: string })[];
  readonly kept: KeptServers["tools"];
}

/** A model that can be granted. */
export interface FoundModel {
  readonly provider: string;
  readonly type: "llm" | "rerank";
  /** The context window in tokens; undefined when it is unknown. */
  readonly contextTokens?: number | undefined;
}

/** A tool that can be granted. */
export interface FoundTool {
  readonly description: string;
  /** The parameters as JSON Schema. */
  readonly parameters: object;
}

/** A knowledge base that can be granted. */
export interface FoundKnowledgeBase {
  readonly name?: string | undefined;
}

/** The grant of a run, and the resources that its runner sees. */
export interface Authorized {
  readonly grant: Grant;
  readonly resources: AgentResources;
  /** The context window of the first LLM in tokens. Undefined when the run has no LLM, or when it is unknown. */
  readonly contextTokens: number | undefined;
  /** The MCP servers of the run; undefined without any. */
  readonly servers: KeptServers | undefined;
}

interface Asked {
  readonly manifest: RunnerManifest;
  readonly binding: Binding;
  readonly scope: RunScope;
  /** The session that the run will have. */
  readonly session: string;
}

/** Decides the grant of a run. Called before the run's transaction, since finding resources may take a while. */
export async function authorize(asked: Asked, finder: ResourceFinder): Promise<Authorized> {
  const { manifest, binding, scope } = asked;
  const models = findModels(asked, finder);
  const own = findTools(asked, finder);
  const { tools: ofServers, servers } = await findServerTools(asked, own, finder);
  const tools = [...own, ...ofServers];
  const knowledgeBases = await findKnowledgeBases(asked, finder);
  const files = findFiles(asked);
  const storage = storageOf(asked);
  const resources = create(AgentResourcesSchema, {
    models: models.map(({ resource }) => resource),
    tools,
    knowledgeBases,
    skills: manifest.capabilities?.skillAuthoring ? (binding.resourcePolicy?.skills ?? []) : [],
    files,
    storage,
  });
  const grant: Grant = {
    models: operationsBy(resources.models, ({ modelId }) => modelId),
    tools: operationsBy(tools, ({ toolName }) => toolName),
    ...(servers !== undefined && { hasServers: true }),
    knowledgeBases: operationsBy(knowledgeBases, ({ kbId }) => kbId),
    files: files.map(({ fileId }) => fileId),
    ...storage,
    apis: apisOf(asked, storage.pluginStorage || storage.workspaceStorage),
    stateScopes: stateScopesOf(binding, scope),
    delivery: deliveryOf(manifest, binding),
    approval: approvalOf(binding),
    announcesStreaming: manifest.capabilities?.streaming ?? false,
  };
  const talker = models.find(({ found }) => found.type === "llm");
  return { grant, resources, contextTokens: talker?.found.contextTokens, servers };
}

type PermissionKind = keyof typeof RunnerPermissionsSchema.field;

function permissionsOf({ permissions }: RunnerManifest, kind: PermissionKind): ReadonlySet<string> {
  return new Set(permissions?.[kind as keyof Omit<RunnerPermissions, `$${string}`>] ?? []);
}

/** LangBot's forms have two names for some fields: older plugins use `select-…`. */
const modelSelectors = [
  "llm-model-selector",
  "select-llm-model",
  "model-fallback-selector",
  "rerank-model-selector",
] as const;
const knowledgeBaseSelectors = [
  "knowledge-base-selector",
  "knowledge-base-multi-selector",
  "select-knowledge-bases",
] as const;
/** The fields that hold one file or several. */
const fileFields = ["file", "file-selector", "array[file]"] as const;

const llmOperations = ["invoke", "stream", "count_tokens"] as const;
const rerankOperations = ["rerank"] as const;

function findModels({ manifest, binding }: Asked, { findModel }: ResourceFinder) {
  const permitted = permissionsOf(manifest, "models");
  const named = textsOfFields(manifest.configSchema, configOf(binding), modelSelectors);
  const ids = new Set([...named, ...(binding.resourcePolicy?.allowedModels ?? [])]);
  return [...ids].flatMap((modelId): { found: FoundModel; resource: ModelResource }[] => {
    const found = findModel(modelId);
    if (found === undefined) {
      return [];
    }
    const known = found.type === "rerank" ? rerankOperations : llmOperations;
    const operations = known.filter((operation) => permitted.has(operation));
    const { provider, type: modelType } = found;
    return operations.length === 0
      ? []
      : [{ found, resource: create(ModelResourceSchema, { modelId, modelType, provider, operations }) }];
  });
}

function toolOperationsOf({ manifest }: Asked): string[] {
  return manifest.capabilities?.toolCalling ? [...permissionsOf(manifest, "tools")] : [];
}

function findTools(asked: Asked, { findTool }: ResourceFinder): ToolResource[] {
  const { binding } = asked;
  const operations = toolOperationsOf(asked);
  const names = operations.length === 0 ? [] : new Set(binding.resourcePolicy?.allowedTools);
  return [...names].flatMap((toolName) => {
    const found = findTool(toolName);
    if (found === undefined) {
      return [];
    }
    const { description, parameters } = found;
    return create(ToolResourceSchema, { toolName, description, operations, parameters: JSON.stringify(parameters) });
  });
}

/** Lists the tools of the binding's MCP servers, unless the runner asks for no tools. */
async function findServerTools(
  asked: Asked,
  own: readonly ToolResource[],
  { listServerTools }: ResourceFinder,
): Promise<{ readonly tools: ToolResource[]; readonly servers?: KeptServers }> {
  const { binding, scope, session } = asked;
  const operations = toolOperationsOf(asked);
  const servers = binding.resourcePolicy?.mcpServers ?? [];
  if (operations.length === 0 || servers.length === 0) {
    return { tools: [] };
  }
  const taken = own.map(({ toolName }) => toolName);
  const listed = await listServerTools(servers, { client: scope.client, session, taken });
  const tools = listed.tools.map(({ name, description, parameters }) =>
    create(ToolResourceSchema, {
      ...{ toolName: name, toolType: "mcp", description, operations },
      parameters: JSON.stringify(parameters),
    }),
  );
  return { tools, servers: { servers, tools: listed.kept } };
}

async function findKnowledgeBases(
  { manifest, binding, scope }: Asked,
  { findKnowledgeBases }: ResourceFinder,
): Promise<KnowledgeBaseResource[]> {
  const operations = manifest.capabilities?.knowledgeRetrieval ? [...permissionsOf(manifest, "knowledgeBases")] : [];
  const named = textsOfFields(manifest.configSchema, configOf(binding), knowledgeBaseSelectors);
  const ids = [...new Set([...named, ...(binding.resourcePolicy?.allowedKnowledgeBases ?? [])])];
  if (operations.length === 0 || ids.length === 0) {
    return [];
  }
  const found = await findKnowledgeBases(scope.client, ids);
  return ids.flatMap((kbId) => {
    const knowledgeBase = found.get(kbId);
    const name = knowledgeBase?.name === undefined ? {} : { kbName: knowledgeBase.name };
    return knowledgeBase === undefined ? [] : create(KnowledgeBaseResourceSchema, { kbId, ...name, operations });
  });
}

/** Finds files of the configuration. The permission for files of knowledge bases grants nothing. */
function findFiles({ manifest, binding }: Asked): FileResource[] {
  if (!permissionsOf(manifest, "files").has("config")) {
    return [];
  }
  const keys = new Set(textsOfFields(manifest.configSchema, configOf(binding), fileFields));
  return Array.from(keys, (fileId) => create(FileResourceSchema, { fileId, source: "config", operations: ["config"] }));
}

function storageOf({ manifest, binding: { resourcePolicy }, scope }: Asked) {
  const permitted = permissionsOf(manifest, "storage");
  return {
    pluginStorage: permitted.has("plugin") && resourcePolicy?.allowPluginStorage !== false,
    workspaceStorage:
      permitted.has("workspace") && resourcePolicy?.allowWorkspaceStorage === true && scope.workspaceId !== undefined,
  };
}

function operationsBy<T extends { readonly operations: string[] }>(
  resources: readonly T[],
  nameOf: (resource: T) => string,
): Operations {
  return Object.fromEntries(resources.map((resource) => [nameOf(resource), resource.operations]));
}

/** Returns the granted APIs. The state has no permission: the binding's policy alone decides. */
function apisOf({ manifest, binding, scope }: Asked, hasStorage: boolean): Api[] {
  const inConversation = scope.conversationId !== undefined;
  const may = (kind: PermissionKind, operation: string): boolean => permissionsOf(manifest, kind).has(operation);
  const granted = {
    history_page: inConversation && may("history", "page"),
    history_search: inConversation && may("history", "search"),
    event_get: may("events", "get"),
    event_page: inConversation && may("events", "page"),
    artifact_metadata: may("artifacts", "metadata"),
    artifact_read: may("artifacts", "read"),
    state: binding.statePolicy?.enableState !== false,
    storage: hasStorage,
  } as const satisfies Record<Api, boolean>;
  return apis.filter((api) => granted[api]);
}

const stateScopesDefault: readonly StateScope[] = ["conversation", "actor"];

function stateScopesOf({ statePolicy }: Binding, scope: RunScope): StateScope[] {
  if (statePolicy?.enableState === false) {
    return [];
  }
  const listed = statePolicy?.stateScopes ?? [];
  const allowed = listed.length === 0 ? stateScopesDefault : new Set(listed.filter(isStateScope));
  return [...allowed].filter((of) => stateKey(scope, of) !== undefined);
}

/**
 * The default lifetime of an approval: long enough to ask a person in a chat, short enough that no forgotten action is
 * approved.
 */
const approvalExpireSecondsDefault = 900;

function approvalOf({ approvalPolicy }: Binding): Grant["approval"] {
  return approvalPolicy?.required === true
    ? { expireSeconds: approvalPolicy.expireSeconds || approvalExpireSecondsDefault }
    : undefined;
}
