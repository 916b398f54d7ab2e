// Signed text: a compact JWS (RFC 7515) with Ed25519 (RFC 8037) that contains its public key. Its header is inside the signed
// bytes and names the type receipt. So no other signature of the service, and none of a JobSpec, can pass as a receipt.
//
// J1  A statement has exactly one signed form by a key: a text that differs by a byte is refused.
// J2  A valid signature shows which key has signed. The caller decides whose key it is and whether to trust it.

// Written by hand: jose would verify a signature, but J1 compares the header, the key and the base64url byte by byte, which is
// most of this file.

import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { importPublicKey, isWeak, publicKeyBytes, thumbprint } from "../../platform/base/public-key.ts";
import { ReceiptFault } from "./receipt-fault.ts";

const algorithm = "EdDSA";
const textType = "runnel-receipt+jws";
const signatureBytes = 64;
/** The maximum length of a text: more than the receipt of the longest log has. */
const textCharsMax = 4_194_304;

/** A verified text and its key. */
export interface SignedText {
  readonly payload: string;
  /** The key that signed, with its thumbprint (RFC 7638) in `kid`. */
  readonly publicKey: Uint8Array;
  readonly kid: string;
}

/** Signs a text with a private key of Ed25519. Returns the compact JWS. */
export function signText(payload: string, privateKey: KeyObject): string {
  const signed = `${encode(printHeader(publicKeyOf(privateKey)))}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

/**
 * Verifies a compact JWS.
 * @throws ReceiptFault when the text is not a receipt signed by the key that it contains.
 */
export function verifyText(text: string): SignedText {
  if (text.length > textCharsMax) {
    throw new ReceiptFault(`the receipt is longer than ${textCharsMax} characters`);
  }
  const parts = text.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new ReceiptFault("the receipt is not a compact JWS: it must have three parts separated by dots");
  }
  const publicKey = readKey(decodeText(header, "header"));
  const signatureRaw = decode(signature, "signature");
  if (signatureRaw.length !== signatureBytes) {
    throw new ReceiptFault(`the signature must be ${signatureBytes} bytes, not ${signatureRaw.length}`);
  }
  if (!verify(null, Buffer.from(`${header}.${payload}`), importPublicKey(publicKey), signatureRaw)) {
    throw new ReceiptFault("invalid signature: the receipt was changed, or not signed by the key that it names");
  }
  return { payload: decodeText(payload, "statement"), publicKey, kid: thumbprint(publicKey) };
}

function publicKeyOf(privateKey: KeyObject): Uint8Array {
  const { crv, x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  if (crv !== "Ed25519") {
    throw new Error("receipts must be signed with an Ed25519 key");
  }
  return Buffer.from(x, "base64url");
}

function printHeader(publicKey: Uint8Array): string {
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") };
  return JSON.stringify({ alg: algorithm, typ: textType, kid: thumbprint(publicKey), jwk });
}

interface Header {
  readonly alg?: unknown;
  readonly typ?: unknown;
  readonly kid?: unknown;
  readonly jwk?: { readonly x?: unknown } | null;
}

/**
 * Reads the key from the header. The rest of the header is fixed, so the whole text is compared with the header made from the
 * key.
 */
function readKey(text: string): Uint8Array {
  const header = parseHeader(text);
  if (header.typ !== textType || header.alg !== algorithm) {
    throw new ReceiptFault(`the header must have typ "${textType}" and alg "${algorithm}": this text is not a receipt`);
  }
  const x = header.jwk?.x;
  const publicKey = decode(typeof x === "string" ? x : "", "key");
  if (publicKey.length !== publicKeyBytes) {
    throw new ReceiptFault(`the header has no Ed25519 key of ${publicKeyBytes} bytes`);
  }
  if (isWeak(publicKey)) {
    throw new ReceiptFault("the key is weak: with it one signature fits any text");
  }
  if (header.kid !== thumbprint(publicKey)) {
    throw new ReceiptFault("the header's kid is not the thumbprint of its key (RFC 7638)");
  }
  if (text !== printHeader(publicKey)) {
    throw new ReceiptFault("the header differs from the header of a receipt with this key");
  }
  return publicKey;
}

function parseHeader(text: string): Header {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    throw new ReceiptFault("the header is not JSON");
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** Decodes base64url without padding and without unused bits in the last character: each text has exactly one form. */
function decode(part: string, name: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.toString("base64url") !== part) {
    throw new ReceiptFault(`the ${name} is not base64url without padding (RFC 7515)`);
  }
  return bytes;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeText(part: string, name: string): string {
  try {
    return utf8.decode(decode(part, name));
  } catch (error) {
    if (error instanceof ReceiptFault) {
      throw error;
    }
    throw new ReceiptFault(`the ${name} is not UTF-8`);
  }
}
