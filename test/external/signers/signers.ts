import { homedir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { openFolder } from "../../fixtures.ts";
import { openPage } from "../browser.ts";
import { startPageServer } from "../page-server.ts";
import { runProgram } from "../program.ts";
import type { Order } from "./page-signer.ts";

export type Sign = (orders: readonly Order[]) => Promise<string[]>;

export interface Language {
  readonly name: string;
  readonly isHere: boolean;
  /** Starts the signer, which ends with the test. */
  start(): Promise<Sign>;
}

const python = inject("python");

export const languages: readonly Language[] = [
  { name: "Go", isHere: inject("hasGo"), start: startGo },
  { name: "Python", isHere: python !== "", start: async () => (orders) => feed(python, [pathOf("sign.py")], orders) },
  { name: "a browser", isHere: true, start: startBrowser },
];

async function startGo(): Promise<Sign> {
  const folder = await openFolder();
  const program = join(folder, "sign");
  // Go caches compiled packages in the user's home.
  const environment = { HOME: homedir(), TMPDIR: folder };
  await runProgram("go", ["build", "-o", program, pathOf("sign.go")], { environment });
  return (orders) => feed(program, [], orders);
}

async function feed(program: string, args: readonly string[], orders: readonly Order[]): Promise<string[]> {
  const input = orders.map((order) => `${JSON.stringify(order)}\n`).join("");
  const { stdout } = await runProgram(program, args, { input });
  return stdout.toString().split("\n").slice(0, -1);
}

async function startBrowser(): Promise<Sign> {
  const page = await openPage(`${await startPageServer()}/signer`, "pageSigner");
  return (orders) =>
    page.evaluate((each) => Promise.all(each.map((order) => globalThis.pageSigner.sign(order))), [...orders]);
}

function pathOf(file: string): string {
  return join(import.meta.dirname, file);
}
