// Agent cards: the public one, which names no agent, and the caller's, whose skills are the caller's agents. Both are signed with the
// key of receipts: a JWS over the card in the form of RFC 8785. No value in a card is empty, because clients drop such values before
// they verify.

import { createHash } from "node:crypto";
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type AgentCard,
  AgentCardSchema,
  type AgentInterfaceSchema,
  type GetExtendedAgentCardRequest,
} from "#gen/lf/a2a/v1/a2a_pb.js";
import type { A2aCall, CardKey, Server } from "./call.ts";
import { agentsOf } from "./start.ts";
import { version as protocolVersion } from "./version.ts";

type Card = MessageInitShape<typeof AgentCardSchema>;
type Interface = MessageInitShape<typeof AgentInterfaceSchema>;

/** The public card as it is sent. */
export interface PrintedCard {
  readonly json: string;
  readonly etag: string;
  readonly lastModified: string;
}

/** Prints the public card. It changes with the version of the service, its address and its key. */
export async function printCard(server: Server, address: string): Promise<PrintedCard> {
  const key = await server.loadCardKey();
  const skill = {
    id: "agent",
    name: "Agent",
    description:
      "Works on a message and answers when it is done. The extended agent card lists the agents of a caller.",
    tags: ["agent"],
  };
  const card = signCard(cardOf(server, { skills: [skill], interfaces: interfacesOf(server, address) }), address, key);
  const json = JSON.stringify(toJson(AgentCardSchema, card));
  const hash = createHash("sha256").update(json).digest("base64url");
  return { json, etag: `"${hash}"`, lastModified: key.createTime.toUTCString() };
}

/** `GetExtendedAgentCard`: the agents of the caller, or the one of a tenant. */
export async function extendedCard(call: A2aCall, { tenant }: GetExtendedAgentCardRequest): Promise<AgentCard> {
  const { server, address } = call;
  const agents = await agentsOf(call, tenant);
  const skills = agents.map(({ name, title, description }) => ({
    id: name,
    name: title || name,
    description,
    tags: ["agent"],
  }));
  const named = agents.flatMap(({ name }) => interfacesOf(server, address, name));
  const interfaces = tenant === "" ? [...interfacesOf(server, address), ...named] : named;
  return signCard(cardOf(server, { skills, interfaces }), address, await server.loadCardKey());
}

function cardOf(
  { version }: Server,
  { skills, interfaces }: { readonly skills: NonNullable<Card["skills"]>; readonly interfaces: readonly Interface[] },
): AgentCard {
  return create(AgentCardSchema, {
    name: "Runnel",
    description: "Runs agents for other programs. Each task has a durable log, so its streams can be resumed.",
    version,
    supportedInterfaces: [...interfaces],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: { bearer: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } } },
    // A scheme without scopes would be an empty value.
    securityRequirements: [{ schemes: { bearer: { list: ["client"] } } }],
    defaultInputModes: ["text/plain", "application/json", "image/png", "application/octet-stream"],
    defaultOutputModes: ["text/plain", "application/octet-stream"],
    skills,
  });
}

function interfacesOf({ grpcPort }: Server, address: string, tenant = ""): readonly Interface[] {
  const url = `${address}/a2a`;
  const { hostname, port, protocol } = new URL(address);
  const grpcUrl = `${hostname}:${grpcPort ?? (port || (protocol === "https:" ? "443" : "80"))}`;
  return [
    { url, protocolBinding: "JSONRPC", tenant, protocolVersion },
    { url, protocolBinding: "HTTP+JSON", tenant, protocolVersion },
    { url: grpcUrl, protocolBinding: "GRPC", tenant, protocolVersion },
  ];
}

function signCard(card: AgentCard, address: string, { kid, sign }: CardKey): AgentCard {
  const header = { alg: "EdDSA", kid, typ: "JOSE", jku: `${address}/.well-known/jwks.json` };
  const signedHeader = encode(JSON.stringify(header));
  const payload = encode(printCanonical(toJson(AgentCardSchema, card)));
  const signature = Buffer.from(sign(Buffer.from(`${signedHeader}.${payload}`))).toString("base64url");
  return {
    ...card,
    signatures: create(AgentCardSchema, { signatures: [{ protected: signedHeader, signature }] }).signatures,
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** Prints a value in the form of RFC 8785: members in the order of their names, and no white space. */
function printCanonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
