// Opens a page in the browser of the person who started the program.

import { spawn } from "node:child_process";
import { sayLine } from "../terminal.ts";

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens the page. Without a browser it prints the address: the service runs all the same. */
export function openBrowser(url: string): void {
  const [program, ...words] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...words, url], { stdio: "ignore", detached: true });
  const explain = (why: string): void => sayLine(`no browser could be opened (${why}): open ${url} yourself`);
  child.once("error", ({ message }) => explain(message));
  child.once("exit", (code) => (code === 0 ? undefined : explain(`${program} ended with ${code}`)));
  child.unref();
}
