// An authorization server: its keys, and the access tokens that it gives.

import { generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import { listenLocally } from "../harness/listen.ts";

export const issuer = "https://id.example";
export const resource = "https://runnel.example/mcp";

export interface Pair {
  readonly id: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const kinds = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }),
  EdDSA: () => generateKeyPairSync("ed25519"),
};

export const pairOf = (id: string, kind: keyof typeof kinds = "ES256"): Pair => ({ id, ...kinds[kind]() });

export const nowSec = (): number => Math.floor(Date.now() / 1_000);

export const rightClaims = () => ({
  ...{ iss: issuer, aud: resource, sub: "4711", client_id: "desktop", jti: "1" },
  ...{ iat: nowSec(), exp: nowSec() + 300 },
});

/** Written by hand, because libraries refuse to make wrong tokens. */
export function tokenOf({ id, privateKey: key }: Pair, claims: object = {}, header: object = {}): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const kind = key.asymmetricKeyType;
  const alg = kind === "ec" ? "ES256" : kind === "rsa" ? "RS256" : "EdDSA";
  const head = { alg, typ: "at+jwt", kid: id, ...header };
  const signed = `${encode(head)}.${encode({ ...rightClaims(), ...claims })}`;
  const signature = sign(alg === "EdDSA" ? null : "sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** The address of an authorization server's keys, which a test may change. */
export async function openKeys(pairs: readonly Pair[]) {
  const keys = { pairs, isDown: false, asked: 0, url: "" };
  const server = createServer((_, response) => {
    keys.asked += 1;
    const jwks = keys.pairs.map(({ id, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid: id,
      use: "sig",
    }));
    response.writeHead(keys.isDown ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: [{ kty: "unknown" }, ...jwks] satisfies JsonWebKey[] }));
  });
  const port = await listenLocally(server);
  keys.url = `http://127.0.0.1:${port}/jwks`;
  return keys;
}

export const clients = new Map([
  ["4711", "local"],
  ["4712", "tenant-a"],
]);
export const exceptions = ["127.0.0.1@127.0.0.1/32"];
