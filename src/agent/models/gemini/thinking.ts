// Which models think before they answer: they may be asked for their thoughts, which all others refuse. Pure.

/** The first that thinks by itself. */
const firstVersion = 2.5;

/** Of families that are new enough: those that answer in pictures or speech, and the one that thinks only when told to. */
const exceptions: readonly RegExp[] = [/-tts\b/, /-audio\b/, /^gemini-2\.5-flash-image\b/, /^gemini-2\.5-flash-lite\b/];

/** Names without a version of their own, for whatever is newest. */
const aliases: ReadonlySet<string> = new Set(["gemini-pro-latest", "gemini-flash-latest"]);

export function isThinkingModel(modelName: string): boolean {
  const version = Number(/^gemini-(\d+(?:\.\d+)?)(?:-|$)/.exec(modelName)?.[1] ?? 0);
  return aliases.has(modelName) || (version >= firstVersion && !exceptions.some((names) => names.test(modelName)));
}
