// A service that the official AG-UI clients call, unmodified: protocol 1.0, and the 0.0.x that CopilotKit still brings.

import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as OldHttpAgent } from "ag-ui-client-0";
import { onTestFinished, vi } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { startWithProvider } from "../conformance/stage.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { keyOf } from "../harness/credentials.ts";
import type { startService, TestService } from "../harness/service.ts";

export const clients = [
  { name: "HttpAgent 1.0.0", isV1: true, Agent: HttpAgent },
  { name: "HttpAgent 0.0.59", isV1: false, Agent: OldHttpAgent as unknown as typeof HttpAgent },
] as const;

export interface AgUiStage {
  readonly service: TestService;
  readonly provider: FakeProvider;
  /** The warnings and errors that the client has printed. */
  readonly printed: readonly unknown[];
}

export async function setAgUiStage(
  flags: Partial<Config> = {},
  options: Parameters<typeof startService>[1] = {},
): Promise<AgUiStage> {
  const { provider, service } = await startWithProvider(flags, options);
  const printed: unknown[] = [];
  for (const name of ["warn", "error"] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...args) => void printed.push(args));
    onTestFinished(() => spy.mockRestore());
  }
  return { service, provider, printed };
}

/** Returns an agent of the client. */
export function openAgent(
  Agent: typeof HttpAgent,
  url: string,
  { threadId = "thread-1", preset = "default", clientId, ...config }: AgentOptions = {},
): HttpAgent {
  const headers = { authorization: `Bearer ${keyOf(clientId)}` };
  return new Agent({ url: `${url}/v1/ag-ui/${preset}`, threadId, headers, ...config });
}

type AgentOptions = Partial<ConstructorParameters<typeof HttpAgent>[0]> & { preset?: string; clientId?: string };

/** Adds a message of the user. */
export function ask(agent: HttpAgent, content: string, id: string = crypto.randomUUID()): void {
  agent.addMessage({ id, role: "user", content });
}

/** Returns the texts of an agent's messages, by role. */
export function textsOf(agent: HttpAgent): [string, unknown][] {
  return agent.messages.map((message) => [message.role, "content" in message ? message.content : undefined]);
}
