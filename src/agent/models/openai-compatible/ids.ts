// The ids of calls that servers of Chat Completions accept. Most accept any id. Mistral's models want nine letters and digits, also
// where others host them.

import type { ModelMessage } from "../model.ts";
import { type IdRule, type SafeIds, safeIds } from "../wire/safe-id.ts";

/** Returns the id of each call and result of a history in a request to a model. */
export function idsOf(model: string, messages: readonly ModelMessage[]): SafeIds {
  return mistralNames.test(model) ? safeIds(messages, mistralRule) : (of) => ("role" in of ? of.toolCallId : of.id);
}

/** Names of Mistral's models, with the name of their maker before it or without. */
const mistralNames = /(?:^|\/)(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)\b/i;

const mistralRule: IdRule = {
  isValid: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
  make: (hash) => hash.toString("hex").slice(0, 9),
};
