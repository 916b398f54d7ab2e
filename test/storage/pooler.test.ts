// A pooler before Postgres, as PgBouncer answers in its default settings.

import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/platform/database/open.ts";
import { listenLocally } from "../harness/listen.ts";

/** An ErrorResponse of the wire protocol: a type, a length, and fields that end with a zero byte. */
function errorResponse(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

test("a pooler that refuses the time limits of a connection is refused with what to use", async () => {
  const server = createServer((socket: Socket) => {
    socket.once("data", () => socket.end(errorResponse("unsupported startup parameter: statement_timeout")));
  });
  const port = await listenLocally(server);
  const url = `postgres://runnel@127.0.0.1:${port}/runnel`;
  const opening = openDatabase({ url, directory: "", poolSize: 2, onConnectionError: () => {} });
  await expect(opening).rejects.toMatchObject({
    reason: "DATABASE_UNAVAILABLE",
    message: expect.stringContaining("names a pooler such as PgBouncer, and Runnel needs Postgres itself"),
  });
});
