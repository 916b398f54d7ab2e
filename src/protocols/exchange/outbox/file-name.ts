// The name of an outbox file in the folder form (Session Management, Outbox File Naming).

const digitsMin = 4;

/** Returns the file name of an outbox, such as `0a1b2c3d_seq0001.txt`. */
export function outboxFileName(exchangeId: string, sequence: number): string {
  return `${exchangeId}_seq${String(sequence).padStart(digitsMin, "0")}.txt`;
}
