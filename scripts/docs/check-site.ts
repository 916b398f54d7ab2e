// Checks a site that was built: it has every page, and every link leads to a file and an anchor of it.

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { sitePathOf } from "./links.ts";
import { listPages } from "./pages.ts";

/** Returns how many links it has followed. Throws an error that names every missing page and broken link. */
export function checkSite(folder: string): number {
  const files = new Map(globSync("**/*.html", { cwd: folder }).map((path) => [path, readHtml(join(folder, path))]));
  const expected = listPages().map((page) => sitePathOf(page).replace(/md$/, "html"));
  const unbuilt = expected.filter((path) => !files.has(path)).map((path) => `${path} is missing`);
  const unlisted = [...files.keys()].filter((path) => path !== "404.html" && !expected.includes(path));
  const broken = [...files].flatMap(([path, { targets }]) =>
    targets.filter((target) => !leads(path, target)).map((target) => `${path} links ${target}, which is not there`),
  );
  const faults = [...unbuilt, ...unlisted.map((path) => `${path} is no page of scripts/docs/pages.ts`), ...broken];
  if (faults.length > 0) {
    throw new Error(faults.join("\n"));
  }
  return [...files.values()].reduce((sum, { targets }) => sum + targets.length, 0);

  function leads(path: string, target: string): boolean {
    const [name = "", anchor = ""] = target.split("#").map(decodeURIComponent);
    const linked = name.startsWith("/") ? name.slice(1) : posix.join(posix.dirname(path), name);
    const file = name === "" ? path : linked.replace(/(^|\/)$/, "$1index.html");
    return existsSync(join(folder, file)) && (anchor === "" || files.get(file)?.ids.has(anchor) === true);
  }
}

function readHtml(path: string) {
  const html = readFileSync(path, "utf8");
  const valuesOf = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value = ""]) => value);
  const targets = new Set(valuesOf(/ (?:href|src)="([^"]*)"/g));
  return {
    targets: [...targets].filter((target) => !/^(?:[a-z]+:|\/\/)/.test(target)),
    ids: new Set(valuesOf(/ id="([^"]+)"/g)),
  };
}
