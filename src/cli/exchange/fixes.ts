// What the operator can do about a refusal of an exchange.

/** The fixes by reason. */
export const exchangeFixes: Readonly<Record<string, string>> = {
  EXCHANGE_NOT_FOUND: "`runnel exchange resume <session>` brings the service what sessions/ has of it",
  EXCHANGE_ENDED: "`runnel exchange new <task>` starts another one",
  INBOX_STALE: "answer the newest outbox, or take the Session and Sequence lines out of the text",
};
