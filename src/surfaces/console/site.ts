// The console: the files of console/dist, served from memory. `npm run build` makes them of `console/`.
//
// C1  A request never reads the disk, and a path never names a file: it is looked up in a map that is made at the start.
// C2  Every answer carries the policy of `securityHeaders`. The page runs only scripts of this origin and calls only this origin.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../../platform/base/fault.ts";
import { packageRoot } from "../../platform/base/package-root.ts";
import { Prepared } from "./prepared.ts";

const folder = fileURLToPath(new URL("console/dist/", packageRoot));

/** Where the console is, below the public path. It ends with a slash. */
export const consolePath = "/console/";
/** Where the explorer of the API is, below the public path. Its files are in a folder of the console's. */
export const explorerPath = "/docs/";

/** The files of the console by their path below `consolePath`. */
export interface Site {
  readonly page: Prepared;
  readonly files: ReadonlyMap<string, Prepared>;
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Reads the files of the console. `publicPath` is the prefix under which a proxy publishes the service, such as `/runnel`.
 * @throws Fault CONFIG_INVALID when this installation has no console.
 */
export async function readSite(publicPath: string): Promise<Site> {
  const files = new Map(await Promise.all((await listFiles()).map((path) => prepare(path, publicPath))));
  const page = files.get("index.html");
  if (page === undefined) {
    const fix = "run `npm run build`, or set console.enabled to false";
    throw new Fault("CONFIG_INVALID", `the console is not in ${folder}: ${fix}`);
  }
  return { page, files };
}

async function listFiles(): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function prepare(file: string, publicPath: string): Promise<readonly [path: string, Prepared]> {
  const path = relative(folder, file).split(sep).join("/");
  const contents = await readFile(file);
  const isPage = path === "index.html";
  const bytes = isPage ? withBase(contents, publicPath) : contents;
  const prepared = new Prepared({
    bytes,
    contentType: contentTypes[extname(path)] ?? "application/octet-stream",
    tag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22),
    // The names of assets carry a hash of their content, so a browser need not ask again.
    isImmutable: path.startsWith("assets/"),
  });
  return [path, prepared];
}

/** Sets the page's base, so that its relative addresses work at every depth and under every prefix. */
function withBase(page: Buffer, publicPath: string): Buffer {
  return Buffer.from(page.toString().replace('<base href="/console/"', `<base href="${publicPath}${consolePath}"`));
}
