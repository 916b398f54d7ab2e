// What a person has typed and not sent yet. It outlives a reload of the page, and ends with the tab.

import { useRef, useState } from "react";
import { prefix } from "./forget-drafts.ts";

export interface Draft {
  readonly text: string;
  readonly model: string;
  /** Stays until the message is sent or edited: after a broken call, the same message is sent once. */
  readonly requestId: string;
}

type Change = Partial<Draft> | ((latest: Draft) => Partial<Draft>);

/** Returns the draft of a session, and the function that changes it. An empty text forgets it. */
export function useDraft(name: string): readonly [draft: Draft, change: (change: Change) => void] {
  const [draft, setDraft] = useState(() => read(name));
  const latest = useRef(draft);
  const change = (change: Change): void => {
    const part = typeof change === "function" ? change(latest.current) : change;
    latest.current = { ...latest.current, ...part, requestId: crypto.randomUUID() };
    setDraft(latest.current);
    keep(name, latest.current);
  };
  return [draft, change];
}

function read(name: string): Draft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(prefix + name) ?? "{}") as Partial<Draft>;
    return { text: "", model: "", requestId: crypto.randomUUID(), ...kept };
  } catch {
    return { text: "", model: "", requestId: crypto.randomUUID() };
  }
}

function keep(name: string, draft: Draft): void {
  try {
    if (draft.text === "") {
      sessionStorage.removeItem(prefix + name);
    } else {
      sessionStorage.setItem(prefix + name, JSON.stringify(draft));
    }
  } catch {
    // The draft lasts as long as the page.
  }
}
