// The cases of test/vectors/ssrf.json through the real egress, with the file's names instead of DNS.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "../harness/certificates.ts";
import { type Answers, createInternet, type Internet, listen, openEgress, post } from "./internet.ts";

interface Case {
  readonly id: string;
  readonly url: string;
  readonly expect: "allow" | "deny";
  readonly why: string;
  readonly phase?: "dial" | "redirect";
  readonly redirect_to?: string;
}

const file = JSON.parse(await readFile(new URL("../vectors/ssrf.json", import.meta.url), "utf8")) as {
  dns: Record<string, Answers>;
  cases: Case[];
};
const targetsOf = (expected: Case["expect"]) => file.cases.filter((each) => each.expect === expected);

let certificates: Certificates;

beforeAll(async () => {
  const hosts = file.cases
    .filter(({ url, phase }) => URL.parse(url)?.protocol === "https:" && (url.length < 200 || phase !== undefined))
    .map(({ url }) => new URL(url).hostname.replace(/\.$/, ""));
  certificates = await makeCertificates([...new Set(hosts)]);
});

test("the file has its cases", () => {
  expect(file.cases).toHaveLength(82);
  expect(targetsOf("allow")).toHaveLength(12);
});

async function openInternet(redirectTo?: string): Promise<Internet> {
  const answer: Parameters<typeof listen>[0] = (_, response) =>
    redirectTo === undefined ? response.end("here") : response.writeHead(307, { location: redirectTo }).end();
  const [http, https] = await Promise.all([listen(answer), listen(answer, certificates.server)]);
  return createInternet(file.dns, { http, https });
}

describe("allowed", () => {
  test.each(targetsOf("allow"))("$id: $why", async ({ url }) => {
    const internet = await openInternet();
    const egress = openEgress({ ...internet.options, ca: certificates.ca });
    expect(egress.findProblem(url)).toBeUndefined();
    expect(await post(egress, url)).toEqual({ status: 200, text: "here", isCut: false });
    expect(internet.dials).toHaveLength(1);
  });
});

describe("denied, without a connection", () => {
  test.each(targetsOf("deny").filter(({ phase }) => phase === undefined))("$id: $why", async ({ url }) => {
    const internet = await openInternet();
    const egress = openEgress({ ...internet.options, ca: certificates.ca });
    await expect(post(egress, url)).rejects.toMatchObject({ name: "EgressFailure" });
    expect(internet.dials).toEqual([]);
  });
});

test.each(targetsOf("deny").filter(({ phase }) => phase === "redirect"))("$id: $why", async ({ url, redirect_to }) => {
  const internet = await openInternet(redirect_to);
  const egress = openEgress({ ...internet.options, ca: certificates.ca });
  expect(await post(egress, url)).toMatchObject({ status: 307 });
  expect(internet.dials).toEqual(["203.0.114.66:443"]);
});

test.each(targetsOf("deny").filter(({ phase }) => phase === "dial"))("$id: $why", async ({ url }) => {
  const internet = await openInternet();
  const egress = openEgress(internet.options);
  const { hostname } = new URL(url);
  expect(await post(egress, url)).toMatchObject({ status: 200 });
  expect(internet.lookups).toEqual([hostname]);
  expect(internet.dials).toEqual(["203.0.114.10:80"]);
  await expect(post(egress, url)).rejects.toMatchObject({ isRetryable: false });
  expect(internet.dials).toHaveLength(1);
});
