// Where a state comes from. Providers refuse the signed and encrypted thoughts of another model, also of one of their own.

/** The account and the model of a request. */
export interface Origin {
  readonly provider: string;
  /** The name that was asked for. The response may name a dated snapshot of it, which changes nothing. */
  readonly model: string;
}

/** Returns whether a state names another model. States of older versions name none, and count as those of the same model. */
export function isOfOtherModel(named: unknown, { model }: Origin): boolean {
  return typeof named === "string" && named !== model;
}
