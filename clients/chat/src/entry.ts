// The entries of a run's log, as the service sends them over SSE: the members that the widget reads.

/** An entry has one member besides `sequence`. Entries of other types count as well. */
export interface Entry {
  readonly sequence: number;
  readonly message_delta?: { readonly chunk?: { readonly content?: string; readonly replaces_text?: boolean } };
  readonly message_completed?: { readonly message?: Message };
  readonly turn_started?: object;
  readonly turn_restarted?: { readonly from_sequence?: number };
  readonly tool_call_started?: {
    readonly tool_call_id: string;
    readonly tool_name: string;
    readonly parameters?: Json;
  };
  readonly tool_call_completed?: { readonly tool_call_id: string; readonly result?: Json; readonly error?: string };
  readonly approval_requested?: ApprovalRequested;
  readonly run_waiting?: object;
  readonly run_completed?: object;
  readonly run_failed?: { readonly code?: string; readonly model_error?: { readonly cause?: string } };
}

export type Json = unknown;

export interface Message {
  readonly text?: string;
  readonly parts?: { readonly elements?: readonly { readonly text?: string }[] };
}

/** What a person has to decide. */
export interface ApprovalRequested {
  readonly approval_id?: string;
  readonly tool_call_id?: string;
  readonly tool_name?: string;
  /** Name of the action or the tool. */
  readonly action?: string;
  /** Why the approval is needed, for people. */
  readonly reason?: string;
}

/** Returns whether the entry ends its run. */
export function isTerminal({ run_completed, run_failed }: Entry): boolean {
  return run_completed !== undefined || run_failed !== undefined;
}
