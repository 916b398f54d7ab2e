#!/usr/bin/env node
// The entry point of the command line. Exits with an error at once when Node is too old; everything else is in cli/.

import module from "node:module";
import { join } from "node:path";

const oldestNode = 24;

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  console.error(`runnel needs Node ${oldestNode} or newer, and this is ${process.versions.node}.`);
  console.error("In a checkout, `npm ci` brings Node 24 along: use `npm run -s runnel -- <command>`.");
  process.exit(1);
}

// A short command spends most of its time on loading code. Node keeps the compiled code in a directory of the user: in a shared
// one, another user could replace it. In a container the user may have no home.
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
if (NODE_COMPILE_CACHE === undefined && caches) {
  module.enableCompileCache(join(caches, "runnel"));
}
// At its natural end, Node waits for its handles to be closed, and after broken HTTP/2 connections that wait may never end and use a
// whole core (seen with 24.21). All work is done by then.
process.once("beforeExit", () => process.exit());
const { runCli } = await import("./cli/cli.ts");
await runCli(process.argv);
