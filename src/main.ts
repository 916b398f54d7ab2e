#!/usr/bin/env node
// The entry point of the command line. Exits with an error at once when Node is too old; everything else is in cli/.

import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const oldestNode = 24;

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  console.error(`runnel needs Node ${oldestNode} or newer, and this is ${process.versions.node}.`);
  console.error("In a checkout, `npm ci` brings Node 24 along: use `npm run -s runnel -- <command>`.");
  process.exit(1);
}

// A short command spends most of its time on loading code. Node keeps the compiled code in a directory of the user: in a shared
// one, another user could replace it.
if (process.env.NODE_COMPILE_CACHE === undefined) {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "runnel"));
}
const { runCli } = await import("./cli/cli.ts");
await runCli(process.argv);
