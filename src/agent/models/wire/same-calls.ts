// Finds the calls of a provider's own record of a response in the message that the response became. The message may lack calls, such
// as those that a token limit has cut, and its calls have ids where the provider gave none.

import type { ModelToolCall } from "../model.ts";

/**
 * Returns a function that takes the recorded calls in order and returns the message's call for each; undefined when the message
 * lacks it. A call without an id has the place of the message's call among those of its name: a message has all calls of a name
 * or none of them.
 */
export function sameCalls(
  made: readonly ModelToolCall[],
): (recorded: Pick<ModelToolCall, "id" | "name">) => ModelToolCall | undefined {
  const byId = new Map(made.map((call) => [call.id, call]));
  const byName = Map.groupBy(made, ({ name }) => name);
  const seen = new Map<string, number>();
  return ({ id, name }) => {
    const place = seen.get(name) ?? 0;
    seen.set(name, place + 1);
    return id === "" ? byName.get(name)?.[place] : byId.get(id);
  };
}
