// Checks the TLS files: whether they are readable, belong together and stay valid for a while.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { dayMs } from "../../platform/base/clock.ts";
import { readTlsFiles, type TlsFiles } from "../../platform/config/tls-files.ts";
import { type CheckContext, type Finding, fail, ok, warn, why } from "./check.ts";

/** Long enough to act before callers are refused. */
const expiryNoticeDays = 14;

/** Checks the certificate, its key and the authorities of client certificates. */
export function checkTls({ config, clock }: CheckContext): Finding[] {
  let files: TlsFiles | undefined;
  try {
    files = readTlsFiles(config);
  } catch (error) {
    return [fail("tls", why(error), "check RUNNEL_TLS_CERT_FILE, RUNNEL_TLS_KEY_FILE and RUNNEL_TLS_CLIENT_CA_FILE")];
  }
  if (files === undefined) {
    return [ok("tls", "off: clear text, for loopback or behind a proxy")];
  }
  const nowMs = clock.nowMs();
  return [
    judgePair(files) ?? judgeExpiry("tls", "the certificate", files.cert, nowMs),
    ...(files.clientCa === undefined
      ? []
      : [judgeExpiry("tls-client-ca", "an authority of client certificates", files.clientCa, nowMs)]),
  ];
}

/** Returns undefined when the key belongs to the certificate. */
function judgePair({ cert, key }: TlsFiles): Finding | undefined {
  const fix = "RUNNEL_TLS_KEY_FILE has to hold the private key of the first certificate in RUNNEL_TLS_CERT_FILE";
  try {
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    return isPair ? undefined : fail("tls", "the key is not the certificate's", fix);
  } catch (error) {
    return fail("tls", `the files are not a certificate and a key in PEM (${why(error)})`, fix);
  }
}

/** Judges a chain by its first certificate to expire. */
function judgeExpiry(name: string, what: string, pem: string, nowMs: number): Finding {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const fix = "renew it, and start the service again: files are read at the start";
  if (blocks.length === 0) {
    return fail(name, `${what}: the file has no certificate in PEM`, "point it at a PEM file with certificates");
  }
  const certificates = blocks.map((block) => new X509Certificate(block));
  const endMs = Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
  const startMs = Math.max(...certificates.map(({ validFromDate }) => validFromDate.getTime()));
  const end = new Date(endMs).toISOString().slice(0, 10);
  if (startMs > nowMs) {
    return fail(
      name,
      `${what} is good from ${new Date(startMs).toISOString()} on only`,
      "check the clock of this machine",
    );
  }
  if (endMs <= nowMs) {
    return fail(name, `${what} expired on ${end}`, fix);
  }
  const days = Math.floor((endMs - nowMs) / dayMs);
  const found = `${what} is good until ${end}, ${days} days`;
  return days < expiryNoticeDays ? warn(name, found, fix) : ok(name, found);
}
