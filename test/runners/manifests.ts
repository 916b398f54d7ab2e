// Manifests for tests, as authors write them.

export const runnerId = "plugin:acme/chat/default";

/** A valid manifest with the given changes. */
export function manifestOf(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ id: runnerId, name: "default", label: { en_US: "Default" }, ...changes });
}

/** A manifest that requests everything. */
export const greedyManifest = manifestOf({
  capabilities: {
    streaming: true,
    tool_calling: true,
    knowledge_retrieval: true,
    multimodal_input: true,
    skill_authoring: true,
    interrupt: true,
    steering: true,
    interactions: true,
  },
  permissions: {
    models: ["invoke", "stream", "rerank", "count_tokens"],
    tools: ["detail", "call"],
    knowledge_bases: ["list", "retrieve"],
    history: ["page", "search"],
    events: ["get", "page"],
    artifacts: ["metadata", "read"],
    storage: ["plugin", "workspace"],
    files: ["config", "knowledge"],
    interactions: ["request"],
  },
  config_schema: [
    { type: "llm-model-selector", name: "model" },
    { type: "model-fallback-selector", name: "fallback" },
    { type: "rerank-model-selector", name: "rerank" },
    { type: "file", name: "faq" },
    { type: "array[file]", name: "more" },
    { type: "string", name: "greeting" },
  ],
});
