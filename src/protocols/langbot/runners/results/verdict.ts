// The outcome of one reported result, in the words of the contract.

/** The outcome of a result. */
export type Disposition =
  | "applied"
  | "telemetry"
  | "ignored_unknown"
  | "dropped_invalid"
  | "dropped_duplicate"
  | "refused_policy"
  | "ignored_after_terminal";

/** The verdict on one result. */
export interface Verdict {
  readonly sequence: bigint;
  /** The type as the runner wrote it, as far as it can be stored. */
  readonly type: string;
  readonly disposition: Disposition;
  readonly diagnostics: readonly string[];
}

/** Whether the log already says everything about the result. Such a verdict is not stored. */
export function isPlain({ disposition, diagnostics }: Verdict): boolean {
  return (disposition === "applied" || disposition === "telemetry") && diagnostics.length === 0;
}

/** The first word of a diagnostic about a limit of the run. */
export const quotaWord = "quota";

/** Whether a runner can cause any number of such verdicts, by repetitions or by results that do not count. */
export function isRepeatable({ disposition, diagnostics }: Pick<Verdict, "disposition" | "diagnostics">): boolean {
  return (
    disposition === "dropped_duplicate" ||
    disposition === "ignored_after_terminal" ||
    diagnostics.some((diagnostic) => diagnostic.startsWith(quotaWord))
  );
}

/** Makes a type storable. It may be as long as a result. */
export function showType(type: string): string {
  return type
    .slice(0, typeUnitsMax)
    .replaceAll(/\p{Cc}/gu, "\ufffd")
    .toWellFormed();
}

const typeUnitsMax = 255;
