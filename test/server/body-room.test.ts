// The memory for bodies: a body counts until it is released, and no longer.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Request } from "../../src/surfaces/http/message.ts";
import { Bodies, type HeldBody } from "../../src/surfaces/http/request-body.ts";

const bodyBytes = 10 * 1_048_576;
/** Together these have more bytes than all large bodies may. */
const count = 7;

/** Reads a body that arrives in two pieces, after its head. */
async function readBody(bodies: Bodies): Promise<HeldBody> {
  const request = Object.assign(new PassThrough(), { headers: {} });
  const held = bodies.read(request as unknown as Request, bodyBytes);
  request.write(Buffer.alloc(bodyBytes / 2));
  request.end(Buffer.alloc(bodyBytes / 2));
  return await held;
}

test("bodies that are released make room for others", async () => {
  const bodies = new Bodies();
  const held = await readBody(bodies);
  for (let index = 1; index < 2 * count; index++) {
    (await readBody(bodies)).release();
  }
  expect(held.dropped?.aborted).toBe(false);
});

test("beyond the limit the oldest of the bodies that are held is dropped", async () => {
  const bodies = new Bodies();
  const held: HeldBody[] = [];
  for (let index = 0; index < count; index++) {
    held.push(await readBody(bodies));
  }
  expect(held.map(({ dropped }) => dropped?.aborted)).toEqual([true, ...Array(count - 1).fill(false)]);
});
