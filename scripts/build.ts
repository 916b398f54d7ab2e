// `npm run build`: builds the program in dist/, where `node dist/main.js` starts it. Works offline. `npm pack` runs it first.

import { join } from "node:path";
import { buildProgram } from "./build-program.ts";
import { repositoryRoot } from "./run-command.ts";

await buildProgram(join(repositoryRoot, "dist"));
