// The failpoints of this protocol and of its command.

/**
 * The failpoints of exchanges only: an exchange starts, takes an inbox, executes its commands one by one, and writes an outbox.
 */
export const exchangeFailpoints = [
  "exchange.written",
  "inbox.written",
  "inbox.committed",
  "command.begun",
  "command.ended",
  "command.settled",
  "exchanged.written",
  "outbox.rendered",
  "outbox.committed",
  "exchange.completed",
] as const;

/** The failpoints of the command that carries an exchange between folders and a service: it writes a file, it takes a file. */
export const folderFailpoints = [
  "beside.written",
  "file.noted",
  "file.answered",
  "file.settled",
  "file.kept",
  "file.moved",
] as const;

/** The failpoints of this protocol. */
export const failpoints = [...exchangeFailpoints, ...folderFailpoints] as const;

type Places = Readonly<Record<(typeof failpoints)[number], true>>;

declare module "../../platform/base/failpoint.ts" {
  interface ProtocolFailpoints extends Places {}
}
