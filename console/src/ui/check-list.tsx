// What was checked and what came out: a word and a sign for each check, never a colour alone.

import { visibleText } from "../lib/visible-text.ts";

/** One check. `open` means that an earlier check has failed. */
export interface Check {
  readonly name: string;
  readonly verdict: "good" | "bad" | "open";
  readonly detail: string;
}

const words = { good: "valid", bad: "invalid", open: "not checked" } as const satisfies Record<
  Check["verdict"],
  string
>;
const states = { good: "completed", bad: "failed", open: "cancelled" } as const satisfies Record<
  Check["verdict"],
  string
>;

export function CheckList({ label, checks }: { readonly label: string; readonly checks: readonly Check[] }) {
  return (
    <ul className="checks" aria-label={label}>
      {checks.map(({ name, verdict, detail }) => (
        <li key={name}>
          <b>{name}</b>
          <span className="state" data-state={states[verdict]}>
            {words[verdict]}
          </span>
          <span>{visibleText(detail)}</span>
        </li>
      ))}
    </ul>
  );
}
