// The tables of docs/resuming.md: how each client reports a lost connection, and which errors are not retried.

import { readFile } from "node:fs/promises";
import { expect } from "vitest";

export interface CodesTable {
  /** By client: the codes of a stream that breaks, and of a call while the service is away. */
  readonly lost: ReadonlyMap<string, { readonly broken: readonly string[]; readonly away: readonly string[] }>;
  /** The codes and reasons of each row that says not to retry. */
  readonly final: readonly { readonly codes: readonly string[]; readonly reasons: readonly string[] }[];
}

export async function readCodesTable(): Promise<CodesTable> {
  const page = await readFile(new URL("../../docs/resuming.md", import.meta.url), "utf8");
  const lost = rowsUnder(page, "| client |").map(([client = "", broken = "", away = ""]) => {
    return [client, { broken: codesIn(broken), away: codesIn(away) }] as const;
  });
  return {
    lost: new Map(lost),
    final: rowsUnder(page, "| do not retry |").map(([codes = "", reasons = ""]) => {
      return { codes: codesIn(codes), reasons: codesIn(reasons) };
    }),
  };
}

/** Fails unless the page lists both codes for the client, and no row says not to retry them. */
export function expectListed(
  { lost, final }: CodesTable,
  client: string,
  { broken, away }: { readonly broken: string; readonly away: string },
): void {
  const listed = lost.get(client) ?? expect.fail(`the page does not list ${client}`);
  expect(listed.broken, client).toContain(broken);
  expect(listed.away, client).toContain(away);
  const finalCodes = final.flatMap(({ codes }) => codes);
  expect(finalCodes).not.toContain(broken);
  expect(finalCodes).not.toContain(away);
}

/** Converts `DeadlineExceeded` to `DEADLINE_EXCEEDED`, as the page and gRPC write it. */
export function printCode(name = ""): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

function rowsUnder(page: string, head: string): string[][] {
  const table = page.slice(page.indexOf(head)).split("\n\n")[0] ?? "";
  const rows = table.split("\n").slice(2);
  expect(rows.length, head).toBeGreaterThan(3);
  return rows.map((row) => row.split("|").map((cell) => cell.trim())).map(([, ...cells]) => cells);
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code);
}
