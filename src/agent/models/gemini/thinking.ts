// Decides which models think before they answer. These models accept a request for their thoughts; all others refuse it. Pure.

/** The first version that thinks by default. */
const firstVersion = 2.5;

/** Exceptions among newer models: models that produce images or speech, and one model that thinks only on request. */
const exceptions: readonly RegExp[] = [/-tts\b/, /-audio\b/, /^gemini-2\.5-flash-image\b/, /^gemini-2\.5-flash-lite\b/];

/** Names without a version, which mean the newest model. */
const aliases: ReadonlySet<string> = new Set(["gemini-pro-latest", "gemini-flash-latest"]);

/** Returns whether a model thinks by default. */
export function isThinkingModel(modelName: string): boolean {
  const version = Number(/^gemini-(\d+(?:\.\d+)?)(?:-|$)/.exec(modelName)?.[1] ?? 0);
  return aliases.has(modelName) || (version >= firstVersion && !exceptions.some((names) => names.test(modelName)));
}
