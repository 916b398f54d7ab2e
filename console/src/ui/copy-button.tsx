// Copies a text, and says that it has.

import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";
import { showToast } from "./toasts.tsx";

const shownMs = 1_500;

export function CopyButton({
  text,
  what,
  label,
}: {
  readonly text: string | (() => string | Promise<string>);
  readonly what: string;
  readonly label?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) {
      return;
    }
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setCopied(true);
    } catch {
      showToast({ tone: "bad", text: "The browser did not let this page copy. Select the text and copy it." });
    }
  };
  return (
    <button
      type="button"
      className={label === undefined ? "button quiet icon-only" : "button"}
      onClick={() => void copy()}
      aria-label={label === undefined ? `Copy ${what}` : undefined}
      title={label === undefined ? `Copy ${what}` : undefined}
    >
      <Icon name={isCopied ? "check" : "copy"} />
      {label !== undefined && (isCopied ? "Copied" : label)}
      <span className="unseen" role="status">
        {isCopied ? "copied" : ""}
      </span>
    </button>
  );
}
