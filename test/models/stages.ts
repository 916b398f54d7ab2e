// All providers, for the cases that run against every provider.

import { anthropicStage } from "./anthropic-stage.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import type { ProviderStage } from "./stage.ts";

export const stages: readonly ProviderStage[] = [chatStage, responsesStage, geminiStage, anthropicStage];
