// Checks the remote addresses in the settings: each configured model provider, and those for callbacks and traces. It connects
// by TCP and TLS only. With `deep` it also asks providers for their models, with their keys.

import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { isConfigured, type Provider, providers } from "../../agent/models/providers.ts";
import { type Config, keys } from "../../platform/config/keys.ts";
import { type CheckContext, type Finding, fail, ok, warn, why } from "./check.ts";

const reachTimeoutMs = 5_000;
const listTimeoutMs = 10_000;

/** Checks the configured providers, and the addresses for callbacks and traces. */
export async function checkProviders({ config, deep }: CheckContext): Promise<Finding[]> {
  const configured = providers.filter((provider) => isConfigured(provider, config));
  const none = [ok("providers", "none is configured: the `demo` model answers")];
  const findings = await Promise.all(configured.map((provider) => checkProvider(provider, config, deep)));
  const places = [
    { name: "callback", variable: "RUNNEL_CALLBACK_BASE_URL", url: config.callbackBaseUrl },
    { name: "tracing", variable: "RUNNEL_TRACING_ENDPOINT", url: config.tracingEndpoint },
  ].filter(({ url }) => url !== "");
  const others = await Promise.all(places.map(checkPlace));
  return [...(configured.length === 0 ? none : findings), ...others];
}

async function checkProvider(provider: Provider, config: Config, deep: boolean): Promise<Finding> {
  const check = `provider-${provider.name}`;
  const url = config[provider.baseUrl];
  const { host } = new URL(url);
  try {
    await reach(url);
  } catch (error) {
    const fix = `check outbound network access (DNS, proxy, firewall), and ${keys[provider.baseUrl].variables[0]}`;
    return fail(check, `${host} cannot be reached (${why(error)})`, fix);
  }
  const found = `${host} answers, ${config[provider.key] === "" ? "no key" : "a key"} is set`;
  return deep ? await askForModels(check, provider, config, found) : ok(check, found);
}

/** Asks a provider for its models. The answer is never shown, because some providers quote the key that they refuse. */
async function askForModels(
  check: string,
  { key, baseUrl, headers }: Provider,
  config: Config,
  found: string,
): Promise<Finding> {
  let status: number;
  try {
    const response = await fetch(`${config[baseUrl].replace(/(?<!\/)\/+$/, "")}/models`, {
      headers: headers(config[key]),
      // Never follows a redirect, so the key goes only to the address in the settings.
      redirect: "manual",
      signal: AbortSignal.timeout(listTimeoutMs),
    });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    return fail(
      check,
      `${found}; asked for its models it did not answer (${why(error)})`,
      "try again, or ask its owner",
    );
  }
  if (status >= 200 && status < 300) {
    return ok(check, `${found}; it accepts the key and lists its models`);
  }
  // Gemini answers 400 to a key that it does not know.
  if ([400, 401, 403].includes(status)) {
    const fix = `check ${keys[key].variables[0]}`;
    return fail(check, `${found}; it refuses the key (HTTP ${status})`, fix);
  }
  const fix = `check ${keys[baseUrl].variables[0]}; a server without a list of models may be in order`;
  return warn(check, `${found}; asked for its models it says HTTP ${status}`, fix);
}

interface Place {
  readonly name: string;
  readonly variable: string;
  readonly url: string;
}

/** Checks an address without which the service works too. */
async function checkPlace({ name, variable, url }: Place): Promise<Finding> {
  const { host } = new URL(url);
  try {
    await reach(url);
    return ok(name, `${host} answers`);
  } catch (error) {
    return warn(
      name,
      `${host} cannot be reached (${why(error)})`,
      `check outbound network access (DNS, proxy, firewall), and ${variable}`,
    );
  }
}

/** Connects as far as a call would get before it sends anything. */
async function reach(url: string): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const isTls = protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const target = { host, port: Number(port) || (isTls ? 443 : 80) };
  const socket = isTls ? connectTls({ ...target, ...(isIP(host) === 0 && { servername: host }) }) : connectTcp(target);
  socket.once(isTls ? "secureConnect" : "connect", () => resolve());
  socket.once("error", reject);
  const timer = setTimeout(() => reject(new Error(`no connection within ${reachTimeoutMs / 1_000} s`)), reachTimeoutMs);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
