// The service with a certificate that the test makes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../src/platform/config/keys.ts";
import { openFolder } from "../fixtures.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { startService, type TestService } from "../harness/service.ts";

export interface TlsService extends TestService {
  /** The authority's certificate. */
  readonly ca: string;
  readonly caFile: string;
}

export async function startTlsService(flags: Partial<Config> = {}): Promise<TlsService> {
  const { ca, server } = await makeCertificates();
  const folder = await openFolder();
  const write = async (name: string, pem: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, pem);
    return path;
  };
  const tlsCertFile = await write("cert.pem", server.cert);
  const tlsKeyFile = await write("key.pem", server.key);
  const service = await startService({ tlsCertFile, tlsKeyFile, ...flags });
  return { ...service, url: `https://${service.target}`, ca, caFile: await write("ca.pem", ca) };
}
