// The link that shares a run: `/console/shared#<run id>.<ticket>`.
//
// A reload needs the ticket, so it stays in the address. It is behind `#`, which browsers send to no server and in no referrer. Only
// the request of the stream has it in its query, which the service never logs. In the history of a browser it is worth little: it
// opens one log, and only for a quarter of an hour after it was made.

export interface SharedLink {
  readonly runId: string;
  /** A stream ticket for the run. */
  readonly ticket: string;
}

const fragmentPattern = /^#([0-9a-f-]{36})\.(rt_[\w.-]+)$/;

/** Returns the address of the reader's page. */
export function writeLink({ runId, ticket }: SharedLink): string {
  return new URL(`shared#${runId}.${ticket}`, document.baseURI).href;
}

/** Reads the fragment of an address. Returns undefined when a part is missing. */
export function readLink(fragment: string): SharedLink | undefined {
  const [, runId, ticket] = fragmentPattern.exec(fragment) ?? [];
  return runId === undefined || ticket === undefined ? undefined : { runId, ticket };
}
