// The table of the calls of models, as Kysely sees it. `migrations/` is authoritative; a test compares the two.

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    model_call: ModelCallTable;
  }
}

/** One row for each HTTP exchange with a provider. The texts are bounded and without secrets. */
export interface ModelCallTable {
  id: string;
  run_id: string;
  turn: number;
  provider: string;
  model: string;
  create_time: Date;
  duration_ms: number;
  path: string;
  /** One a line. */
  request_headers: string;
  request: string;
  request_bytes: number;
  is_request_cut: boolean;
  status: number;
  answer_headers: string;
  answer: string;
  answer_bytes: number;
  is_answer_cut: boolean;
  error: string;
}
