// All names in our traces. OpenTelemetry's names follow its semantic conventions 1.41.0, the version in the schema URL. The
// conventions for generative AI still change; readers use that URL to find the version.

/** The schema URL of the conventions. */
export const schemaUrl = "https://opentelemetry.io/schemas/1.41.0";

/** The instrumentation scope of our spans. */
export const scopeName = "runnel";

/** Values of `gen_ai.operation.name`, and the first word of a span's name. */
export const operations = { run: "invoke_agent", chat: "chat", tool: "execute_tool" } as const;

/** The names of attributes. */
export const names = {
  serviceName: "service.name",
  serviceVersion: "service.version",
  serviceInstanceId: "service.instance.id",
  errorType: "error.type",
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  agent: "gen_ai.agent.name",
  model: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  finishReasons: "gen_ai.response.finish_reasons",
  /** In seconds. */
  firstPart: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  runId: "runnel.run.id",
  runEpoch: "runnel.run.epoch",
  runStatus: "runnel.run.status",
  turn: "runnel.turn",
  clientHash: "runnel.client.hash",
} as const;

/** The value of `error.type` for an error without a code. */
export const unnamedError = "_OTHER";

/** A tool that the service runs because the model called it. */
export const toolType = "function";
