// `npm run build`: builds the program in dist/, where `node dist/main.js` starts it, and the console in console/dist. Works
// offline. `npm pack` runs it first.

import { join } from "node:path";
import { buildConsole } from "./build-console.ts";
import { buildProgram } from "./build-program.ts";
import { repositoryRoot } from "./run-command.ts";

await buildProgram(join(repositoryRoot, "dist"));
await buildConsole();
