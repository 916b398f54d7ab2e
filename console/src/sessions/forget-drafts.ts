// Forgets what a person has typed, which `kept-draft.ts` keeps. Every page does it, also without a view that has a draft.

/** How the keys of drafts begin. */
export const prefix = "runnel.draft.";

/** Forgets all drafts: another client must not see them. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage).filter((each) => each.startsWith(prefix))) {
    sessionStorage.removeItem(key);
  }
}
