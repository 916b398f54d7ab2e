// The names of clients' own directories, for ids of every kind.

import fc from "fast-check";
import { expect, test } from "vitest";
import { clientDirectory } from "../../src/engine/sessions/client-directory.ts";
import { keyedClient, sharedClient } from "../../src/platform/auth/caller.ts";

const hostile = [
  "",
  "/",
  "..",
  ".",
  "../..",
  "a/../b",
  "\0",
  "%",
  "%002f",
  "+",
  "-",
  "key-a",
  "shared/a",
  "A",
  "a",
  "ä",
  "a\u0308",
];

/** Any text, halves of surrogate pairs too, short and as long as an id may be; and texts that look like names of directories. */
const ids = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: "binary", maxLength: 256 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 256 }).map((units) => String.fromCharCode(...units)),
  fc.string({ unit: fc.constantFrom("/", ".", "%", "0", "2", "f", "F", "a", "A", "-", "+"), maxLength: 256 }),
  fc.constantFrom(...hostile).map((id) => clientDirectory(keyedClient(id)).replace(/^key./, "")),
);
const clients = fc.oneof(ids.map(keyedClient), ids.map(sharedClient));

test("a name is one plain segment of a path, short enough for every file system", () => {
  fc.assert(
    fc.property(clients, (client) => {
      expect(clientDirectory(client)).toMatch(/^(?:key|shared)(?:-[a-z0-9._@%-]{0,200}|\+[0-9a-f]{64})$/);
    }),
  );
});

test("two clients never share a name, whatever their ids and realms are", () => {
  fc.assert(
    fc.property(fc.uniqueArray(clients, { minLength: 2, maxLength: 20 }), (different) => {
      expect(new Set(different.map((client) => clientDirectory(client).toLowerCase())).size).toBe(different.length);
    }),
  );
  const all = hostile.flatMap((id) => [keyedClient(id), sharedClient(id), keyedClient(id.padEnd(256, "\u{1f600}"))]);
  const different = new Set(all);
  expect(new Set([...different].map(clientDirectory)).size).toBe(different.size);
});

test("a plain id stays readable", () => {
  expect(clientDirectory(keyedClient("alice@example.com"))).toBe("key-alice@example.com");
  expect(clientDirectory(sharedClient("A/b"))).toBe("shared-%0041%002fb");
});
