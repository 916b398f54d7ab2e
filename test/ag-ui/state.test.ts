// The state of a front end that an agent changes, and its plan, by the official clients.

import type { BaseEvent } from "@ag-ui/client";
import { describe, expect, test } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { ask, clients, openAgent, setAgUiStage } from "./stage.ts";

const steps = [{ text: "Pack", status: "in_progress" }];
const plan = { id: "c6", name: "todo", arguments: JSON.stringify({ items: steps }) };
const set = (id: string, args: object) => ({ id, name: "set_state", arguments: JSON.stringify(args) });

describe.each(clients)("by $name", ({ Agent }) => {
  test("changes arrive as patches, also those of the next run, and the client's own keys stay", async () => {
    const { service, provider, printed } = await setAgUiStage({
      agentPresets: ['stateful={"tools": {"builtin": ["set_state", "todo"]}}'],
    });
    provider.respond(
      callTools(set("c1", { key: "city", value: "Rome" }), set("c2", { key: "days/left", value: { n: 3 } })),
      callTools(set("c3", { value: 1 }), set("c4", { key: "days/left", value: null })),
      answer("done"),
      callTools(set("c5", { key: "city", value: "Oslo" }), plan),
      answer("done"),
    );
    const agent = openAgent(Agent, service.url, { preset: "stateful", initialState: { own: { kept: true } } });
    const events: BaseEvent[] = [];
    const run = async () => await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
    ask(agent, "go");
    await run();
    const typesOfState = () => events.map(({ type }) => type).filter((type) => type.startsWith("STATE_"));
    expect(typesOfState()).toEqual(["STATE_SNAPSHOT", "STATE_DELTA", "STATE_DELTA"]);
    const conversation = { city: "Rome", "days/left": null };
    expect(agent.state).toEqual({ own: { kept: true }, runnel: { conversation } });
    expect(events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject([
      { toolCallId: "c1", content: "Set city" },
      { toolCallId: "c2" },
      { toolCallId: "c3", content: expect.stringMatching(/^Error: invalid key/) },
      { toolCallId: "c4" },
    ]);
    events.length = 0;
    agent.setState({ ...agent.state, own: { kept: "still" } });
    ask(agent, "more");
    await run();
    expect(typesOfState()).toEqual(["STATE_DELTA", "STATE_DELTA"]);
    expect(agent.state).toEqual({
      own: { kept: "still" },
      runnel: { conversation: { ...conversation, city: "Oslo", plan: steps } },
    });
    expect(printed).toEqual([]);
    await expectInvariants(service.databaseUrl);
  });
});
