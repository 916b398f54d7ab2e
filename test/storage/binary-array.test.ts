// Binary arrays, as Postgres reads them.

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { newUuid } from "../../src/platform/base/ids.ts";
import {
  byteaArray,
  int4Array,
  int8Array,
  repeatedInt4Array,
  repeatedUuidArray,
  uuidArray,
} from "../../src/platform/database/binary-array.ts";
import type { Connection } from "../../src/platform/database/database.ts";
import { openStore } from "../runlog/store.ts";

async function openConnection(): Promise<Connection> {
  const { connections } = await openStore();
  const client = await connections.connect("test");
  onTestFinished(() => client.end());
  return client;
}

test("a binary array comes back from Postgres with the same values", async () => {
  const client = await openConnection();
  const row = fc.record({
    uuid: fc.nat({ max: 2 ** 31 }).map(newUuid),
    int8: fc.maxSafeInteger(),
    int4: fc.integer(),
    bytes: fc.uint8Array({ maxLength: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 50 }), async (rows) => {
      const result = await client.query({
        text: "select * from unnest($1::uuid[], $2::int8[], $3::int4[], $4::bytea[]) as t (uuid, int8, int4, bytes)",
        values: [
          uuidArray(rows.map((each) => each.uuid)),
          int8Array(rows.map((each) => each.int8)),
          int4Array(rows.map((each) => each.int4)),
          byteaArray(rows.map((each) => each.bytes)),
        ],
      });
      expect(result.rows.map((each) => ({ ...each, bytes: new Uint8Array(each.bytes) }))).toEqual(
        rows.map((each) => ({ ...each, int8: each.int8 + 0, int4: each.int4 + 0 })),
      );
    }),
    { numRuns: 60 },
  );
});

test("a repeated value has the same bytes as that many values", () => {
  const repeated = fc.record({
    uuid: fc.nat({ max: 2 ** 31 }).map(newUuid),
    int4: fc.integer(),
    count: fc.nat({ max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(repeated, { maxLength: 8 }), (values) => {
      const spread = values.flatMap(({ uuid, int4, count }) => Array.from({ length: count }, () => ({ uuid, int4 })));
      expect(repeatedUuidArray(values.map(({ uuid, count }) => ({ value: uuid, count })))).toEqual(
        uuidArray(spread.map(({ uuid }) => uuid)),
      );
      expect(repeatedInt4Array(values.map(({ int4, count }) => ({ value: int4, count })))).toEqual(
        int4Array(spread.map(({ int4 }) => int4)),
      );
    }),
  );
});

test("the bounds of the integer types are encoded, and values beyond them refused", async () => {
  const client = await openConnection();
  const int4 = [-(2 ** 31), -1, 0, 2 ** 31 - 1];
  const int8 = [Number.MIN_SAFE_INTEGER, -1, 0, Number.MAX_SAFE_INTEGER];
  const { rows } = await client.query("select * from unnest($1::int4[], $2::int8[]) as t (int4, int8)", [
    int4Array(int4),
    int8Array(int8),
  ]);
  expect(rows).toEqual(int4.map((each, index) => ({ int4: each, int8: int8[index] })));
  expect(() => int4Array([2 ** 31])).toThrow(RangeError);
});
