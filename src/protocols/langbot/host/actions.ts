// The actions of the host API by the protocol's names, with their timeouts.

interface ActionTraits {
  /** The timeout. For a stream, the time until its next message. */
  readonly timeoutMs: number;
  /**
   * The action works for the run. It cannot begin while the run is being cancelled, and ends with the run. All other actions
   * still let a runner save its results.
   */
  readonly endsWithCancel?: true;
}

const quickMs = 15_000;
const lookupMs = 30_000;

/** The timeouts are those of the protocol's clients. */
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

/** The name of an action. */
export type Action = keyof typeof actions;

/** Returns the timeout of an action, and whether a cancellation ends it. */
export function traitsOf(action: Action): ActionTraits {
  return actions[action];
}
