// The requests that the service has signed during `npm run test:all`, one a line.

import { fileURLToPath } from "node:url";

export const signedFile: string = fileURLToPath(new URL("../../node_modules/.signed-requests.jsonl", import.meta.url));
