#!/usr/bin/env node
// The entry point of the command line. Exits with an error at once when Node is too old; everything else is in cli/.

const oldestNode = 24;

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  console.error(`runnel needs Node ${oldestNode} or newer, and this is ${process.versions.node}.`);
  console.error("In a checkout, `npm ci` brings Node 24 along: use `npm run -s runnel -- <command>`.");
  process.exit(1);
}

const { runCli } = await import("./cli/cli.ts");
await runCli(process.argv);

export {};
