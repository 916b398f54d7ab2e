// The commands of the protocols. To delete those of a protocol, remove its line here and its folder.

// biome-ignore lint/performance/noBarrelFile: the list has one line for each protocol
export { exchangeCommands } from "./exchange/commands.ts";
export { jobspecCommands } from "./jobspec/commands.ts";
export { langbotCommands } from "./langbot/commands.ts";
