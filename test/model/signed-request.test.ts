// A request signed by v2 is accepted unchanged, and refused after a change to any of its parts.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isSignedBy, readSignature } from "../../src/platform/auth/signature.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { signV2 } from "../harness/signing.ts";

const nowSeconds = 1_767_225_600;
const secret = "a-secret-of-the-tests";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly clientId: string;
  readonly nonce: string;
  readonly timestamp: number;
  readonly body: Uint8Array;
  readonly signature: string;
}

/** Texts that HTTP can carry: a target or a header has no line end. */
const line = fc.string({ unit: "grapheme-ascii" });
const part = {
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "get"),
  path: line.map((text) => `/${text}`),
  clientId: line,
  nonce: fc.stringMatching(/^[A-Za-z0-9_-]{8,128}$/),
  timestamp: fc.integer({ min: nowSeconds - 120, max: nowSeconds + 120 }),
  body: fc.uint8Array({ maxLength: 40 }),
};

function sign(request: Omit<Request, "signature">): Request {
  return { ...request, signature: signV2({ ...request, secret })["x-signature"] ?? expect.unreachable() };
}

function isAccepted({ method, path, clientId, nonce, timestamp, body, signature }: Request): boolean {
  const headers = { signature, nonce, timestamp: String(timestamp) };
  const request = { httpMethod: method, target: path, clientId, contents: [body] };
  try {
    return isSignedBy([secret], readSignature(headers, nowSeconds * 1_000), request, { acceptV1: true });
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return false;
  }
}

const requests = fc.record(part).map(sign);

function alike(one: Request, other: Request): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

test.each(Object.keys(part) as (keyof typeof part)[])("another %s makes the signature invalid", (name) => {
  fc.assert(
    fc.property(requests, part[name] as fc.Arbitrary<string>, (request, value) => {
      const other = { ...request, [name]: value };
      expect(isAccepted(request)).toBe(true);
      expect(isAccepted(other)).toBe(alike(request, other));
    }),
    { numRuns: 300 },
  );
});

test("a signature with any character changed is invalid", () => {
  fc.assert(
    fc.property(
      requests,
      fc.nat(),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      (request, place, put) => {
        const at = place % request.signature.length;
        const signature = request.signature.slice(0, at) + put + request.signature.slice(at + 1);
        expect(isAccepted({ ...request, signature })).toBe(signature === request.signature);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("the end of one part cannot become the beginning of the next", () => {
  const names = ["method", "path", "clientId", "nonce"] as const;
  fc.assert(
    fc.property(requests, fc.nat({ max: 2 }), fc.integer({ min: 1, max: 5 }), (request, index, length) => {
      const [from, to] = [names[index] ?? expect.unreachable(), names[index + 1] ?? expect.unreachable()];
      const moved = request[from].slice(-length);
      const other = { ...request, [from]: request[from].slice(0, -length), [to]: moved + request[to] };
      expect(isAccepted(other)).toBe(alike(request, other));
    }),
    { numRuns: 1_000 },
  );
});
