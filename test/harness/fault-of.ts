// What a call throws, for tests of more than its message.

import { expect } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";

/** Returns the fault that the work throws. Fails when it throws nothing or another error. */
export function faultOf(work: () => unknown): Fault;
export function faultOf<Kind extends Error>(work: () => unknown, kind: new (...args: never[]) => Kind): Kind;
export function faultOf(work: () => unknown, kind: new (...args: never[]) => Error = Fault): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof kind) {
      return error;
    }
    throw error;
  }
  return expect.unreachable("nothing was refused");
}
