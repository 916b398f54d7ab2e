// Short messages about what has just happened. They stay until a person closes them when something failed.

import { Store, useStore } from "../lib/store.ts";
import { Icon } from "./icon.tsx";

export interface Toast {
  readonly tone: "good" | "bad";
  readonly text: string;
}

interface Shown extends Toast {
  readonly id: number;
}

const shownMs = 5_000;
const shownMax = 4;
const toasts = new Store<readonly Shown[]>([]);
let lastId = 0;

/** Shows a message. */
export function showToast(toast: Toast): void {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { ...toast, id }].slice(-shownMax));
  if (toast.tone === "good") {
    setTimeout(() => close(id), shownMs);
  }
}

function close(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <div key={id} className="toast" data-tone={tone}>
          <span>{text}</span>
          <button type="button" className="button quiet icon-only" aria-label="Close message" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
