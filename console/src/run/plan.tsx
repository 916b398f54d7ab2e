// The plan of a run: a word and a sign for each step, never a colour alone.

import { type PlanEntry, PlanEntry_Status } from "#gen/runnel/v1/result_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";

const { PENDING, IN_PROGRESS, COMPLETED } = PlanEntry_Status;
const words: Readonly<Partial<Record<PlanEntry_Status, readonly [state: string, word: string]>>> = {
  [PENDING]: ["queued", "to do"],
  [IN_PROGRESS]: ["running", "in progress"],
  [COMPLETED]: ["completed", "done"],
};

export function Plan({ entries }: { readonly entries: readonly PlanEntry[] }) {
  const done = entries.filter(({ status }) => status === COMPLETED).length;
  return (
    <details className="fold plan" open>
      <summary>
        <Icon name="chevron" />
        Plan, {done} of {entries.length} done
      </summary>
      <ol aria-label="Plan">
        {entries.map(({ text, status }, index) => {
          const [state, word] = words[status] ?? ["queued", "to do"];
          return (
            <li key={index}>
              <span className="state" data-state={state}>
                {word}
              </span>
              {visibleText(text)}
            </li>
          );
        })}
      </ol>
    </details>
  );
}
