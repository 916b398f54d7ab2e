// Prompts of a decision cycle: a template with the context in it.

/**
 * Replaces `{{context}}` literally: text of other authors in the context must not act as a replacement pattern such as `$&`.
 */
export function renderPrompt(template: string, context: object): string {
  return template.replaceAll("{{context}}", () => JSON.stringify(context));
}
