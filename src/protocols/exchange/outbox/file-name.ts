// What the file of an outbox is called in the folder form (Session Management, Outbox File Naming).

const digitsMin = 4;

export function outboxFileName(exchangeId: string, sequence: number): string {
  return `${exchangeId}_seq${String(sequence).padStart(digitsMin, "0")}.txt`;
}
