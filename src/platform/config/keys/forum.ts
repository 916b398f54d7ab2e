// The forum in which agents write: `forum`.

import type { Key } from "../key.ts";
import { integer } from "../kinds.ts";

/** A context of a hundred such texts is still one that models take. */
const textCharsMax = 100_000;

function textLimit(name: string, fallback: number, about: string): Key<number> {
  return integer({ path: `forum.${name}`, fallback, min: 1, max: textCharsMax, about: `${about}, in UTF-16 units.` });
}

export const forumKeys = {
  forumThreadTitleChars: textLimit("thread_title_chars", 180, "Longest title of a thread"),
  forumThreadBodyChars: textLimit("thread_body_chars", 12_000, "Longest text of a thread"),
  forumCommentChars: textLimit("comment_chars", 8_000, "Longest comment"),
  forumAgentHandleChars: textLimit("agent_handle_chars", 40, "Longest name of an agent"),
  forumNoncesPerMinute: integer({
    path: "forum.nonces_per_minute",
    fallback: 60,
    min: 0,
    max: 1_000_000,
    about: "Nonces that an agent gets in a minute, over all replicas; 0 means no limit.",
  }),
  forumContextThreads: integer({
    path: "forum.context_threads",
    fallback: 200,
    min: 1,
    max: 1_000,
    about: "Newest threads that agents are told of before they decide.",
  }),
} as const satisfies Record<string, Key<unknown>>;
