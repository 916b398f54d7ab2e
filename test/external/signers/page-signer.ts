// The script of a page that signs JobSpecs with the browser's own Ed25519, as a front end would.

import { canonicalText, parse, write } from "./canonical.ts";

export interface Order {
  /** In base64. */
  readonly seed: string;
  readonly spec: string;
}

export interface PageSigner {
  sign(order: Order): Promise<string>;
}

declare global {
  var pageSigner: PageSigner;
}

async function sign({ seed, spec }: Order): Promise<string> {
  const parsed = parse(spec);
  const { privateKey, publicKey } = await importKey(seed);
  const canonical = new TextEncoder().encode(canonicalText(parsed));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, canonical));
  parsed.set("public_key", publicKey);
  parsed.set("signature", btoa(String.fromCharCode(...signature)));
  return write(parsed);
}

/** The PKCS#8 header before the seed. Browsers import private keys as bytes only in PKCS#8 (RFC 8410). */
const pkcs8Prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/** The public key is in base64; JWK uses base64url without padding. */
async function importKey(seed: string) {
  const bytes = Uint8Array.from([...pkcs8Prefix, ...Array.from(atob(seed), (each) => each.charCodeAt(0))]);
  const privateKey = await crypto.subtle.importKey("pkcs8", bytes, "Ed25519", true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  return { privateKey, publicKey: `${x.replaceAll("-", "+").replaceAll("_", "/")}=` };
}

globalThis.pageSigner = { sign };
