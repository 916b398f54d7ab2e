// What the manifest of a runner requests beside what a binding grants. The service decides it for each run, when the event is
// known. This is its decision as far as manifest and binding make it, by the rules of the contract.
//
// G1  Nothing is granted that the manifest does not request, except state and delivery, which need no request.
// G2  A row that differs has a reason. A row that is granted has a condition where the event or the service still decides.

import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import type { RunnerManifest } from "#gen/runnel/runner/v1/runner_pb.js";
import { formatCount } from "../lib/format.ts";
import { memberOf, readJson } from "../lib/free-json.ts";

/** The settings of a runner, which a binding has itself or takes from its agent. */
export type Terms = Pick<
  Binding,
  "runnerId" | "runnerConfig" | "resourcePolicy" | "statePolicy" | "deliveryPolicy" | "approvalPolicy"
>;

export type Request = "requested" | "not requested" | "needs no request";
/** `unused`: the binding grants what the manifest does not request. `withheld`: no manifest can request it. */
export type Verdict = "granted" | "refused" | "unused" | "withheld" | "absent";

export interface GrantRow {
  readonly kind: string;
  readonly operations: readonly string[];
  readonly request: Request;
  readonly verdict: Verdict;
  /** The resources by id; empty where the grant names none. */
  readonly resources: readonly string[];
  /** Why not, or under which condition. */
  readonly reason: string;
}

/** The resources that this client has. Undefined while they are not known. */
export interface Stored {
  readonly knowledgeBases: ReadonlySet<string> | undefined;
  readonly files: ReadonlySet<string> | undefined;
}

interface Asked {
  readonly manifest: RunnerManifest;
  readonly terms: Partial<Terms>;
  readonly stored: Stored;
}

/** Compares a manifest with the terms of a binding. Without terms nothing is granted. */
export function compareGrants(manifest: RunnerManifest, terms: Terms | undefined, stored: Stored): GrantRow[] {
  const asked = { manifest, terms: terms ?? {}, stored };
  const rows = [
    ...modelRows(asked),
    ...toolRows(asked),
    ...knowledgeRows(asked),
    ...fileRows(asked),
    ...skillRows(asked),
    ...storageRows(asked),
    ...stateRows(asked),
    ...historyRows(asked),
    ...messageRows(asked),
  ];
  return terms === undefined ? rows.flatMap(withoutBinding) : rows;
}

/** Whether the two sides disagree. */
export function isDifference({ verdict }: GrantRow): boolean {
  return verdict === "refused" || verdict === "unused" || verdict === "absent";
}

function withoutBinding(row: GrantRow): GrantRow[] {
  const reason = "No binding names this runner.";
  return row.request === "requested" ? [{ ...row, verdict: "refused", resources: [], reason }] : [];
}

const modelSelectors = ["llm-model-selector", "select-llm-model", "model-fallback-selector", "rerank-model-selector"];
const knowledgeSelectors = ["knowledge-base-selector", "knowledge-base-multi-selector", "select-knowledge-bases"];
const fileFields = ["file", "file-selector", "array[file]"];

function modelRows(asked: Asked): GrantRow[] {
  const requested = asked.manifest.permissions?.models ?? [];
  const names = [...select(asked, modelSelectors), ...(asked.terms.resourcePolicy?.allowedModels ?? [])];
  const isReranker = (name: string): boolean => name.startsWith("rerank:");
  const condition = "If the service has the model.";
  return [
    ...resourceRows({
      kind: "Models",
      requested: requested.filter((operation) => operation !== "rerank"),
      names: names.filter((name) => !isReranker(name)),
      none: "The binding names no model, in allowed_models or by a selector of its configuration.",
      condition,
    }),
    ...resourceRows({
      kind: "Rerankers",
      requested: requested.filter((operation) => operation === "rerank"),
      names: names.filter(isReranker),
      none: "The binding names no model of the form rerank:<name>.",
      condition,
    }),
  ];
}

function toolRows({ manifest, terms }: Asked): GrantRow[] {
  return resourceRows({
    kind: "Tools",
    requested: manifest.permissions?.tools ?? [],
    lacks: manifest.capabilities?.toolCalling ? undefined : "tool_calling",
    names: terms.resourcePolicy?.allowedTools ?? [],
    none: "resource_policy.allowed_tools is empty.",
    condition: "If the service has the tool.",
  });
}

function knowledgeRows(asked: Asked): GrantRow[] {
  const { manifest, terms, stored } = asked;
  return resourceRows({
    kind: "Knowledge bases",
    requested: manifest.permissions?.knowledgeBases ?? [],
    lacks: manifest.capabilities?.knowledgeRetrieval ? undefined : "knowledge_retrieval",
    names: [...select(asked, knowledgeSelectors), ...(terms.resourcePolicy?.allowedKnowledgeBases ?? [])],
    none: "The binding names none, in allowed_knowledge_bases or by a selector of its configuration.",
    known: stored.knowledgeBases,
    unknown: ["refused", "This client has no such knowledge base."],
  });
}

function fileRows(asked: Asked): GrantRow[] {
  const requested = asked.manifest.permissions?.files ?? [];
  const ofKnowledge = requested.filter((source) => source !== "config");
  return [
    ...resourceRows({
      kind: "Files",
      requested: requested.filter((source) => source === "config"),
      names: select(asked, fileFields),
      none: "The configuration names no file.",
      known: asked.stored.files,
      unknown: ["absent", "No file with this key is stored, so reading it fails."],
    }),
    ...refuse("Files", ofKnowledge, "This service grants no files of knowledge bases."),
  ];
}

function skillRows({ manifest, terms }: Asked): GrantRow[] {
  return resourceRows({
    kind: "Skills",
    requested: manifest.capabilities?.skillAuthoring ? ["list"] : [],
    names: (terms.resourcePolicy?.skills ?? []).map(({ skillName }) => skillName),
    none: "resource_policy.skills is empty.",
    unrequested: "The manifest does not declare the capability skill_authoring.",
  });
}

function storageRows({ manifest, terms: { resourcePolicy } }: Asked): GrantRow[] {
  const requested = manifest.permissions?.storage ?? [];
  const plugin = areaRow({
    area: "plugin",
    isRequested: requested.includes("plugin"),
    isAllowed: resourcePolicy?.allowPluginStorage !== false,
    isDefault: resourcePolicy?.allowPluginStorage === undefined,
    condition: "",
  });
  const workspace = areaRow({
    area: "workspace",
    isRequested: requested.includes("workspace"),
    isAllowed: resourcePolicy?.allowWorkspaceStorage === true,
    isDefault: false,
    condition: "For events that name a workspace.",
  });
  return [...plugin, ...workspace];
}

function areaRow(of: {
  readonly area: string;
  readonly isRequested: boolean;
  readonly isAllowed: boolean;
  readonly isDefault: boolean;
  readonly condition: string;
}): GrantRow[] {
  const { area, isRequested, isAllowed, isDefault, condition } = of;
  const row = { kind: "Storage", operations: [area], resources: [] };
  if (isRequested) {
    const reason = isAllowed ? condition : `resource_policy.allow_${area}_storage is false.`;
    return [{ ...row, request: "requested", verdict: isAllowed ? "granted" : "refused", reason }];
  }
  return isAllowed && !isDefault ? [{ ...row, request: "not requested", verdict: "unused", reason: unrequested }] : [];
}

const stateScopes = ["conversation", "actor", "subject", "runner"];
/** The scopes of a policy that lists none. */
const stateScopesDefault = ["conversation", "actor"];

function stateRows({ terms: { statePolicy } }: Asked): GrantRow[] {
  const listed = statePolicy?.stateScopes ?? [];
  const allowed = statePolicy?.enableState === false ? [] : listed.length === 0 ? stateScopesDefault : listed;
  const withheld = stateScopes.filter((scope) => !allowed.includes(scope));
  const row = { kind: "State", request: "needs no request", resources: [] } as const;
  const reason =
    statePolicy?.enableState === false ? "state_policy.enable_state is false." : "Not in state_policy.state_scopes.";
  return [
    ...(allowed.length === 0
      ? []
      : [{ ...row, operations: allowed, verdict: "granted", reason: "If the event has them." } as const]),
    ...(withheld.length === 0 ? [] : [{ ...row, operations: withheld, verdict: "withheld", reason } as const]),
  ];
}

const inConversation = "For events with a conversation.";

function historyRows({ manifest: { permissions } }: Asked): GrantRow[] {
  const events = permissions?.events ?? [];
  return [
    ...grant("History", permissions?.history ?? [], inConversation),
    ...grant(
      "Events",
      events.filter((operation) => operation === "get"),
      "",
    ),
    ...grant(
      "Events",
      events.filter((operation) => operation === "page"),
      inConversation,
    ),
    ...grant("Artifacts", permissions?.artifacts ?? [], ""),
    ...refuse("Interactions", permissions?.interactions ?? [], "This service has no interactions."),
  ];
}

function messageRows({ manifest, terms: { deliveryPolicy } }: Asked): GrantRow[] {
  const max = deliveryPolicy?.maxMessageSize ?? 0n;
  const size = max > 0n ? `At most ${formatCount(max)} characters.` : "";
  const row = { kind: "Messages", resources: [] };
  const streams = manifest.capabilities?.streaming === true;
  const mayStream = deliveryPolicy?.enableStreaming !== false;
  const mayReply = deliveryPolicy?.enableReply !== false;
  return [
    {
      ...row,
      operations: ["pieces"],
      request: streams ? "requested" : "needs no request",
      verdict: mayStream ? "granted" : streams ? "refused" : "withheld",
      reason: mayStream ? size : "delivery_policy.enable_streaming is false.",
    },
    {
      ...row,
      operations: ["whole messages"],
      request: "needs no request",
      verdict: mayReply ? "granted" : "withheld",
      reason: mayReply ? size : "delivery_policy.enable_reply is false.",
    },
  ];
}

const unrequested = "The manifest does not request it.";

interface Resources {
  readonly kind: string;
  readonly requested: readonly string[];
  /** The capability that the manifest lacks. */
  readonly lacks?: string | undefined;
  /** What the binding names. */
  readonly names: readonly string[];
  /** Why nothing is granted when the binding names nothing. */
  readonly none: string;
  readonly unrequested?: string;
  readonly condition?: string;
  readonly known?: ReadonlySet<string> | undefined;
  /** The verdict on names that are not known. */
  readonly unknown?: readonly [Verdict, string];
}

function resourceRows({ kind, requested, lacks, names, none, condition = "", ...more }: Resources): GrantRow[] {
  const resources = [...new Set(names)];
  if (requested.length === 0) {
    const reason = more.unrequested ?? unrequested;
    const row = { kind, operations: [], request: "not requested", verdict: "unused", resources, reason } as const;
    return resources.length === 0 ? [] : [row];
  }
  if (lacks !== undefined) {
    return refuse(kind, requested, `The manifest does not declare the capability ${lacks}.`, resources);
  }
  const isKnown = (name: string): boolean => more.known?.has(name) ?? true;
  const found = resources.filter(isKnown);
  const gone = resources.filter((name) => !isKnown(name));
  const [verdict, reason] = more.unknown ?? ["refused", ""];
  return [
    ...(resources.length === 0 ? refuse(kind, requested, none) : []),
    ...(found.length === 0 ? [] : grant(kind, requested, condition, found)),
    ...(gone.length === 0 ? [] : grant(kind, requested, reason, gone).map((row) => ({ ...row, verdict }))),
  ];
}

function grant(
  kind: string,
  operations: readonly string[],
  reason: string,
  resources: readonly string[] = [],
): GrantRow[] {
  return operations.length === 0
    ? []
    : [{ kind, operations, request: "requested", verdict: "granted", resources, reason }];
}

function refuse(
  kind: string,
  operations: readonly string[],
  reason: string,
  resources: readonly string[] = [],
): GrantRow[] {
  return grant(kind, operations, reason, resources).map((row) => ({ ...row, verdict: "refused" }));
}

/** Returns what the fields of these types select in the configuration. Defaults of the schema select nothing. */
function select({ manifest, terms }: Asked, types: readonly string[]): string[] {
  const schema = readJson(manifest.configSchema);
  const config = readJson(terms.runnerConfig);
  return (Array.isArray(schema) ? schema : [])
    .filter((field) => types.includes(String(memberOf(field, "type"))))
    .flatMap((field) => textsOf(memberOf(config, String(memberOf(field, "name")))))
    .filter((text) => !nothingSelected.has(text));
}

/** The values of forms that select nothing. */
const nothingSelected: ReadonlySet<string> = new Set(["", "__none__", "__none"]);

/** Returns the ids in a value: one id, a list, a model with its fallbacks, or a file with its media type. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") {
    return [value];
  }
  if (Array.isArray(value)) {
    return value.flatMap(textsOf);
  }
  return ["primary", "fallbacks", "file_key"].flatMap((key) => {
    const member = memberOf(value, key);
    return member === undefined ? [] : textsOf(member);
  });
}
