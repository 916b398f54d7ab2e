// Prompts of a decision cycle: a template with the context in it.

/** The context comes in literally: what others wrote into it must not be read as a pattern of replacement. */
export function renderPrompt(template: string, context: object): string {
  return template.replaceAll("{{context}}", () => JSON.stringify(context));
}
