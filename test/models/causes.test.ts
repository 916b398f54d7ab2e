// Why a provider gave no response: by its status, its words and its message.

import { expect, test } from "vitest";
import type { FailureCause } from "../../src/agent/models/model.ts";
import { describeHttpError, describeStreamError } from "../../src/agent/models/wire/failures.ts";

const openai = (code: string | null, message: string, type = "invalid_request_error") =>
  JSON.stringify({ error: { message, type, param: null, code } });

test.each<[status: number, body: string, cause: FailureCause, retryable: boolean]>([
  [429, openai("rate_limit_exceeded", "Rate limit reached", "requests"), "rate_limit", true],
  [429, openai("insufficient_quota", "You exceeded your current quota", "insufficient_quota"), "quota", false],
  [429, '{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}', "rate_limit", true],
  [
    400,
    openai("context_length_exceeded", "This model's maximum context length is 8192 tokens"),
    "context_length",
    false,
  ],
  [
    400,
    '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}',
    "context_length",
    false,
  ],
  [
    400,
    '{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}',
    "quota",
    false,
  ],
  [400, openai("content_filter", "The response was filtered"), "content_filter", false],
  [400, openai(null, "Unknown parameter"), "invalid_request", false],
  [401, openai("invalid_api_key", "Incorrect API key"), "authentication", false],
  [402, "Payment required", "quota", false],
  [402, openai(null, "Pay your bill"), "quota", false],
  [500, '{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}', "quota", false],
  [429, openai(null, "top up", "insufficient_balance_error"), "quota", false],
  [403, '{"error":{"code":403,"message":"no access","status":"PERMISSION_DENIED"}}', "authentication", false],
  [404, openai("model_not_found", "The model does not exist"), "not_found", false],
  [408, "", "timeout", true],
  [500, "<html>oops</html>", "unavailable", true],
  [503, '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}', "overloaded", true],
  [504, "", "timeout", true],
  [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded", true],
])("an answer %d %s has the cause %s", (status, body, cause, retryable) => {
  expect(describeHttpError(status, body, undefined)).toMatchObject({ cause, retryable, status, code: String(status) });
});

test.each<[error: unknown, cause: FailureCause, retryable: boolean]>([
  [{ object: "error", message: "context too long" }, "context_length", false],
  [{ message: "no credits left" }, "quota", false],
  ["no credits left", "quota", false],
  [{ type: "overloaded_error", message: "Overloaded" }, "overloaded", true],
  [{ code: 429, message: "slow" }, "rate_limit", true],
  [{ code: 402, message: "pay" }, "quota", false],
  [{ message: "engine fell over" }, "unavailable", true],
])("an error in a stream %j has the cause %s", (error, cause, retryable) => {
  expect(describeStreamError(error)).toMatchObject({ cause, retryable });
});
