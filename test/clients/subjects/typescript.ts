// The subject of `@runnel/client`. README.md of test/clients specifies it.

import { text } from "node:stream/consumers";
import { answer } from "./answer.ts";

await answer(JSON.parse(await text(process.stdin)), (line) => process.stdout.write(`${JSON.stringify(line)}\n`));
