// What a runner may ask of its host, by the protocol's names, and how long each may take.

interface ActionTraits {
  /** Of a stream: until its next message. */
  readonly timeoutMs: number;
  /** Works on: it is not begun any more once the run shall be cancelled, and ends with it. Everything else lets a runner save what it has. */
  readonly endsWithCancel?: true;
}

const quickMs = 15_000;
const lookupMs = 30_000;

/** The times are those after which the protocol's clients give up. */
const actions = {
  invoke_llm: { timeoutMs: 120_000, endsWithCancel: true },
  invoke_llm_stream: { timeoutMs: 120_000, endsWithCancel: true },
  invoke_rerank: { timeoutMs: lookupMs, endsWithCancel: true },
  count_tokens: { timeoutMs: lookupMs, endsWithCancel: true },
  get_tool_detail: { timeoutMs: lookupMs, endsWithCancel: true },
  call_tool: { timeoutMs: 180_000, endsWithCancel: true },
  retrieve_knowledge_base: { timeoutMs: lookupMs },
  history_page: { timeoutMs: lookupMs },
  history_search: { timeoutMs: lookupMs },
  event_get: { timeoutMs: quickMs },
  event_page: { timeoutMs: lookupMs },
  artifact_metadata: { timeoutMs: quickMs },
  artifact_read: { timeoutMs: 60_000 },
  state_get: { timeoutMs: quickMs },
  state_set: { timeoutMs: quickMs },
  state_delete: { timeoutMs: quickMs },
  state_list: { timeoutMs: quickMs },
  get_plugin_storage: { timeoutMs: quickMs },
  set_plugin_storage: { timeoutMs: quickMs },
  delete_plugin_storage: { timeoutMs: quickMs },
  get_plugin_storage_keys: { timeoutMs: quickMs },
  get_workspace_storage: { timeoutMs: quickMs },
  set_workspace_storage: { timeoutMs: quickMs },
  delete_workspace_storage: { timeoutMs: quickMs },
  get_workspace_storage_keys: { timeoutMs: quickMs },
  get_config_file: { timeoutMs: quickMs },
  approval_get: { timeoutMs: lookupMs },
  run_get: { timeoutMs: quickMs },
  get_langbot_version: { timeoutMs: quickMs },
} as const satisfies Record<string, ActionTraits>;

export type Action = keyof typeof actions;

export function traitsOf(action: Action): ActionTraits {
  return actions[action];
}
