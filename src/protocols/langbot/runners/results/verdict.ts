// What became of one reported result, in the words of the contract.

export type Disposition =
  | "applied"
  | "telemetry"
  | "ignored_unknown"
  | "dropped_invalid"
  | "dropped_duplicate"
  | "refused_policy"
  | "ignored_after_terminal";

export interface Verdict {
  readonly sequence: bigint;
  /** As the runner wrote it, as far as it can be kept. */
  readonly type: string;
  readonly disposition: Disposition;
  readonly diagnostics: readonly string[];
}

/** The log says all that there is to say: such a verdict is not kept. */
export function isPlain({ disposition, diagnostics }: Verdict): boolean {
  return (disposition === "applied" || disposition === "telemetry") && diagnostics.length === 0;
}

/** How a diagnostic begins when a limit of the run is reached. */
export const quotaWord = "quota";

/** Whether it is one of those of which a runner can make any number: it repeats itself, or goes on where nothing counts. */
export function isRepeatable({ disposition, diagnostics }: Pick<Verdict, "disposition" | "diagnostics">): boolean {
  return (
    disposition === "dropped_duplicate" ||
    disposition === "ignored_after_terminal" ||
    diagnostics.some((diagnostic) => diagnostic.startsWith(quotaWord))
  );
}

/** Types may be as long as a result; what is kept of one has to be storable. */
export function showType(type: string): string {
  return type
    .slice(0, typeUnitsMax)
    .replaceAll(/\p{Cc}/gu, "\ufffd")
    .toWellFormed();
}

const typeUnitsMax = 255;
