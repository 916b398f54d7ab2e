// `npm run docs`: makes the site of the documentation in site/dist, with llms.txt, and checks its links.
// `npm run docs -- dev` serves the pages and shows each change at once. `npm run docs -- preview` serves what was made.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkSite } from "./docs/check-site.ts";
import { writeTexts } from "./docs/llms.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

const site = join(repositoryRoot, "site");
const generator = join(site, "node_modules/vitepress");
const program = join(generator, "bin/vitepress.js");
const folder = join(site, "dist");

const [command = "build", ...rest] = process.argv.slice(2);
if (!["build", "dev", "preview"].includes(command) || (command === "build" && rest.length > 0)) {
  console.error("usage: npm run docs -- [dev|preview] [--port <port>]");
  process.exit(2);
}
if (!isInstalled()) {
  await runCommand("npm", ["ci", "--prefix", site, "--no-audit", "--no-fund"]);
}
if (command === "build") {
  await runCommand(process.execPath, [program, "build", site]);
  await writeTexts(folder);
  console.log(`site/dist is made: ${checkSite(folder)} links lead to a page. Look at it: npm run docs -- preview`);
} else {
  // In this process, so that it ends with it.
  process.argv = [process.execPath, program, command, site, ...rest];
  await import(pathToFileURL(program).href);
}

function isInstalled(): boolean {
  const { devDependencies } = JSON.parse(readFileSync(join(site, "package.json"), "utf8"));
  const found = join(generator, "package.json");
  return existsSync(found) && JSON.parse(readFileSync(found, "utf8")).version === devDependencies.vitepress;
}
