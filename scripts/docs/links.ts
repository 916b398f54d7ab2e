// Where links of pages lead on the site: to a page, or to a file of the repository on the web.

import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { repositoryRoot } from "../run-command.ts";
import { listPages, readPage } from "./pages.ts";

/** The repository on the web. */
export const repositoryUrl = "https://github.com/runnel/runnel";

/** Returns the path of a page's source on the site: `README.md` is the index of its folder. */
export function sitePathOf(page: string): string {
  return page.replace(/(^|\/)README\.md$/, "$1index.md");
}

const pages = new Set(listPages());

/** Returns the target of a link of a page as the site has it. Targets with a scheme, and anchors alone, stay. */
export function siteTargetOf(page: string, target: string): string {
  if (/^(?:[a-z]+:|#)/.test(target)) {
    return target;
  }
  const [path = "", anchor] = target.split("#");
  const linked = posix.join(posix.dirname(page), path).replace(/\/$/, "");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const destination = [linked, `${linked}/README.md`].find((each) => pages.has(each));
  if (destination !== undefined) {
    return `/${sitePathOf(destination)}${hash}`;
  }
  const file = join(repositoryRoot, linked);
  const kind = existsSync(file) && statSync(file).isDirectory() ? "tree" : "blob";
  return `${repositoryUrl}/${kind}/main/${linked}${hash}`;
}

/** Returns a page's text with its links as the site has them. Code stays as it is. */
export function siteTextOf(page: string): string {
  return readPage(page).replaceAll(/```[\s\S]*?```|`[^`\n]*`|\]\(([^)\s]+)\)/g, (found, target?: string) =>
    target === undefined ? found : `](${siteTargetOf(page, target)})`,
  );
}
