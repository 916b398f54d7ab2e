// The differences between model families in the parameters that they accept. Pure.

/** Families that reason before they answer: they refuse `max_tokens` and `temperature`. Exact, or followed by `-` or `.`. */
const reasoningFamilies = ["o1", "o3", "o4", "gpt-5", "gpt-6"] as const;

/** Members of these families that answer at once, like other models. */
const plainFamilies = ["gpt-5-chat"] as const;

/** Returns whether the model reasons before it answers. */
export function isReasoningModel(modelName: string): boolean {
  return isOf(reasoningFamilies, modelName) && !isOf(plainFamilies, modelName);
}

function isOf(families: readonly string[], modelName: string): boolean {
  return families.some((family) => {
    const next = modelName.charAt(family.length);
    return modelName.startsWith(family) && (next === "" || next === "-" || next === ".");
  });
}

/**
 * Returns the Chat Completions body with the parameters that its model accepts. `reasons` says that a model reasons whose name
 * does not show it, such as that of a deployment.
 */
export function adaptParameters(body: Readonly<Record<string, unknown>>, reasons: boolean): Record<string, unknown> {
  if (!reasons && !isReasoningModel(String(body.model))) {
    const { reasoning_effort: _unknown, ...rest } = body;
    return rest;
  }
  const { max_tokens, temperature: _refused, ...rest } = body;
  return { ...rest, max_completion_tokens: max_tokens };
}
