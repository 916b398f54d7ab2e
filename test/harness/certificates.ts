// Certificates for a test: an authority, a server and a client that it has signed, and a client of some other authority. They
// are made anew each time, so that none in the repository can expire or leak.

import { isIP } from "node:net";
import { type CertificateExtension, type GenerateResult, generate } from "selfsigned";

/** PEM texts. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  /** The authority's certificate, which verifies the others. */
  readonly ca: string;
  /** Valid for 127.0.0.1, ::1 and localhost, and for the given hosts. */
  readonly server: KeyPair;
  readonly client: KeyPair;
  /** Valid, but from an authority that the service does not trust. */
  readonly strangerClient: KeyPair;
}

/** `hosts` are names and addresses. */
export async function makeCertificates(hosts: readonly string[] = []): Promise<Certificates> {
  const [authority, stranger] = await Promise.all([makeAuthority("authority"), makeAuthority("stranger")]);
  const [server, client, strangerClient] = await Promise.all([
    certify("localhost", authority, serverExtensions(hosts)),
    certify("client", authority, clientExtensions),
    certify("client", stranger, clientExtensions),
  ]);
  return { ca: authority.cert, server, client, strangerClient };
}

/** Elliptic curves, because their keys are made in no time. */
const keyOptions = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

const dnsName = 2;
const ipAddress = 7;

const authorityExtensions: CertificateExtension[] = [
  { name: "basicConstraints", cA: true, critical: true },
  { name: "keyUsage", keyCertSign: true, critical: true },
];

function serverExtensions(hosts: readonly string[]): CertificateExtension[] {
  const altNames = ["localhost", "127.0.0.1", "::1", ...hosts].map((host) =>
    isIP(host) === 0 ? ({ type: dnsName, value: host } as const) : ({ type: ipAddress, ip: host } as const),
  );
  return [
    { name: "basicConstraints", cA: false, critical: true },
    { name: "extKeyUsage", serverAuth: true },
    { name: "subjectAltName", altNames },
  ];
}

const clientExtensions: CertificateExtension[] = [
  { name: "basicConstraints", cA: false, critical: true },
  { name: "extKeyUsage", clientAuth: true },
];

async function makeAuthority(name: string): Promise<KeyPair> {
  const subject = [{ name: "commonName", value: name }];
  return pairOf(await generate(subject, { ...keyOptions, extensions: authorityExtensions }));
}

async function certify(name: string, authority: KeyPair, extensions: CertificateExtension[]): Promise<KeyPair> {
  const subject = [{ name: "commonName", value: name }];
  const { cert, key } = authority;
  return pairOf(await generate(subject, { ...keyOptions, extensions, ca: { cert, key } }));
}

function pairOf(generated: GenerateResult): KeyPair {
  return { cert: generated.cert, key: generated.private };
}
