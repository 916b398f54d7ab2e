// Signatures alone: how they are parsed, in which order they are refused, and that a signature fits only the signed request.

import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isSignedBy,
  readSignature,
  type SignatureHeaders,
  type SignedRequest,
} from "../../src/platform/auth/signature.ts";
import type { Fault } from "../../src/platform/base/fault.ts";

const nowMs = 1_767_225_600_000;
const timestamp = "1767225600";
const nonce = "0123456789abcdef";
const good: SignatureHeaders = { signature: `sha256=${"a".repeat(64)}`, timestamp, nonce };

function refusal(headers: Partial<SignatureHeaders>): string | undefined {
  try {
    readSignature({ ...good, ...headers }, nowMs);
    return undefined;
  } catch (error) {
    return (error as Fault).message;
  }
}

describe("an invalid header gives the document's message", () => {
  const tooLong = "n".repeat(129);
  test.each([
    ["nothing", {}, undefined],
    ["no signature", { signature: undefined }, "missing signature, timestamp, or nonce"],
    ["no timestamp", { timestamp: undefined, nonce: "." }, "missing signature, timestamp, or nonce"],
    ["no nonce", { nonce: "" }, "missing signature, timestamp, or nonce"],
    ["a short nonce, before a bad timestamp", { nonce: "1234567", timestamp: "x" }, "invalid nonce"],
    ["a long nonce", { nonce: tooLong }, "invalid nonce"],
    ["a dot in the nonce", { nonce: "abcdefgh.i" }, "invalid nonce"],
    ["a line end behind the nonce", { nonce: "abcdefgh\n" }, "invalid nonce"],
    ["an exponent, before a bad signature", { timestamp: "1.7e9", signature: "x" }, "invalid timestamp"],
    ["a sign", { timestamp: "+1767225600" }, "invalid timestamp"],
    ["hexadecimal", { timestamp: "0x6955B900" }, "invalid timestamp"],
    ["a leading zero", { timestamp: "01767225600" }, "invalid timestamp"],
    ["blanks", { timestamp: " 1767225600" }, "invalid timestamp"],
    ["120 s early", { timestamp: "1767225480" }, undefined],
    ["121 s early", { timestamp: "1767225479" }, "timestamp too old"],
    ["120 s late", { timestamp: "1767225720" }, undefined],
    ["121 s late", { timestamp: "1767225721" }, "timestamp too old"],
    ["milliseconds", { timestamp: "1767225600000" }, "timestamp too old"],
    ["upper case", { signature: `sha256=${"A".repeat(64)}` }, "invalid signature"],
    ["no prefix", { signature: "a".repeat(64) }, "invalid signature"],
    ["63 digits", { signature: `sha256=${"a".repeat(63)}` }, "invalid signature"],
    ["65 digits", { signature: `sha256=${"a".repeat(65)}` }, "invalid signature"],
  ])("%s", (_, headers, expected) => {
    expect(refusal(headers)).toBe(expected);
  });

  test("the refusal of a wrong clock has the skew", () => {
    try {
      readSignature({ ...good, timestamp: "1767225300" }, nowMs);
      expect.unreachable();
    } catch (error) {
      expect((error as Fault).metadata).toEqual({ skew_seconds: "-300" });
    }
  });
});

interface Signed {
  readonly httpMethod: string;
  readonly target: string;
  readonly clientId: string;
  readonly body: string;
}

const signed = fc.record<Signed>({
  httpMethod: fc.constantFrom("GET", "POST", "DELETE"),
  target: fc.string().map((path) => `/${path.replaceAll("\n", "")}`),
  clientId: fc.string().map((id) => id.replaceAll("\n", "")),
  body: fc.string(),
});
const secrets = fc.string({ minLength: 1 });

function macOf(secret: string, text: string): string {
  return `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
}

function signV2(secret: string, { httpMethod, target, clientId, body }: Signed): string {
  const digest = createHash("sha256").update(body).digest("hex");
  return macOf(secret, `v2\n${httpMethod}\n${target}\n${clientId}\n${timestamp}\n${nonce}\n${digest}`);
}

function verify(secret: string | undefined, signature: string, request: Signed, acceptV1: boolean): boolean {
  const { body, ...rest } = request;
  const read = readSignature({ signature, timestamp, nonce }, nowMs);
  const whole: SignedRequest = { ...rest, contents: [Buffer.from(body)] };
  return isSignedBy(secret === undefined ? [] : [secret], read, whole, { acceptV1 });
}

describe("a signature", () => {
  test("of v1 is valid for its body, and only while v1 is accepted", () => {
    fc.assert(
      fc.property(secrets, signed, signed, (secret, request, other) => {
        const signature = macOf(secret, `${timestamp}.${nonce}.${request.body}`);
        expect(verify(secret, signature, request, true)).toBe(true);
        expect(verify(secret, signature, { ...other, body: request.body }, true)).toBe(true);
        expect(verify(secret, signature, { ...request, body: `${request.body}x` }, true)).toBe(false);
        expect(verify(secret, signature, request, false)).toBe(false);
      }),
    );
  });

  test("is valid under either of two secrets during their replacement", () => {
    const request: Signed = { httpMethod: "GET", target: "/v1/sessions", clientId: "a", body: "" };
    const read = readSignature({ signature: signV2("old", request), timestamp, nonce }, nowMs);
    const whole = { ...request, contents: [Buffer.alloc(0)] };
    expect(isSignedBy(["new", "old"], read, whole, { acceptV1: false })).toBe(true);
    expect(isSignedBy(["new"], read, whole, { acceptV1: false })).toBe(false);
  });

  test("by the secret that stands for an unknown client's is never valid", () => {
    const request: Signed = { httpMethod: "GET", target: "/v1/sessions", clientId: "a", body: "" };
    expect(verify(undefined, signV2("no client has this secret", request), request, false)).toBe(false);
  });

  test("may cover the body or the one message in it", () => {
    const request: Signed = { httpMethod: "POST", target: "/a.B/C", clientId: "a", body: "message" };
    const contents = [Buffer.from("\0\0\0\0\x07message"), Buffer.from("message")];
    for (const content of contents) {
      const signature = signV2("secret", { ...request, body: content.toString() });
      const read = readSignature({ signature, timestamp, nonce }, nowMs);
      expect(isSignedBy(["secret"], read, { ...request, contents }, { acceptV1: false })).toBe(true);
    }
  });
});
