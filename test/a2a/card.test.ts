// Agent cards: found by anyone, cached, signed, and silent about the agents of callers.

import { createPublicKey } from "node:crypto";
import { AgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { expect, test, vi } from "vitest";
import { completed } from "../../clients/typescript/src/worker/runner.ts";
import { offer, setMcpStage } from "../mcp/stage.ts";
import { as, bindings, connect } from "./stage.ts";

/** What the client adds to a call without its decorators. */
function raw(clientId?: string) {
  return { serviceParameters: { ...as(clientId).serviceParameters, "A2A-Version": "1.0" } };
}

const cardPath = "/.well-known/agent-card.json";

test("the public card needs no key, is cached and names no agent", async () => {
  const { service } = await setMcpStage({ agentPresets: ['secret={"model":"gpt-4o"}'] });
  const response = await fetch(service.url + cardPath);
  const { etag = "", ...headers } = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    "cache-control": expect.stringContaining("max-age="),
    "last-modified": expect.stringMatching(/GMT$/),
    vary: "Host",
  });
  const text = await response.text();
  expect(text).not.toContain("secret");
  const url = `${service.url}/a2a`;
  expect(JSON.parse(text)).toMatchObject({
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "HTTP+JSON" },
      { url: service.target, protocolBinding: "GRPC" },
    ],
  });
  const again = await fetch(service.url + cardPath, { headers: { "if-none-match": etag } });
  expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
  const below = await fetch(`${url}${cardPath}`);
  expect(await below.text()).toBe(text);
  for (const protocol of ["https", "HTTPS, http"]) {
    const proxied = await fetch(service.url + cardPath, { headers: { "x-forwarded-proto": protocol } });
    expect(await proxied.json()).toMatchObject({
      supportedInterfaces: [{ url: url.replace("http:", "https:") }, {}, {}],
    });
  }
});

test.for(bindings)(
  "%s: the extended card has the caller's agents, and its signature fits no other card",
  async (binding) => {
    // A replica keeps its key for a minute, and an emptied database has another one.
    const { service } = await setMcpStage({ agentPresets: ['helper={"model":"gpt-4o"}'] }, { own: true });
    await offer(service, {
      poet: async function* () {
        yield completed("x");
      },
    });
    const client = await connect(service.url, binding);
    const verify = verifyAgentCardSignature(async (kid, jku = "") => {
      const { keys } = (await (await fetch(jku)).json()) as { keys: { kid: string }[] };
      return createPublicKey({ key: keys.find((key) => key.kid === kid) ?? {}, format: "jwk" });
    });
    const card = await client.getAgentCard(as());
    const json = AgentCard.toJSON(card) as AgentCard;
    await verify(json);
    expect(card.skills.map(({ id }) => id)).toEqual(["helper", "poet"]);
    expect(card.supportedInterfaces.map(({ tenant }) => tenant)).toEqual([
      "",
      "",
      "",
      "helper",
      "helper",
      "helper",
      "poet",
      "poet",
      "poet",
    ]);
    const printed = vi.spyOn(console, "debug").mockReturnValue(undefined);
    await expect(verify({ ...json, name: "Runnel2" })).rejects.toThrow(/signature/);
    printed.mockRestore();
    const own = await client.transport.getExtendedAgentCard({ tenant: "poet" }, raw());
    expect([own.skills.map(({ id }) => id), own.supportedInterfaces.length]).toEqual([["poet"], 3]);
    const stranger = await client.transport.getExtendedAgentCard({ tenant: "" }, raw("stranger"));
    expect(stranger.skills.map(({ id }) => id)).toEqual(["helper"]);
  },
);
