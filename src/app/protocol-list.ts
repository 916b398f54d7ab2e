// The protocols of this service. To delete one, remove its line here and its folder.

// biome-ignore lint/performance/noBarrelFile: the list has one line for each protocol
export { a2a } from "../protocols/a2a/protocol.ts";
export { acp } from "../protocols/acp/protocol.ts";
export { agentRunner } from "../protocols/agent-runner/protocol.ts";
export { community } from "../protocols/community/protocol.ts";
export { exchange } from "../protocols/exchange/protocol.ts";
export { jobspec } from "../protocols/jobspec/protocol.ts";
export { langbot } from "../protocols/langbot/protocol.ts";
