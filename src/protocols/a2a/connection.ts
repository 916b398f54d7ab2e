// One connection with an A2A agent, over the official client. It is loaded with the first run that has such an agent.
//
// R1  Every request goes through the guarded egress, to the origin of the card alone, and ends with its signal.

import type { Part, SendMessageResult, StreamResponse, Task } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { A2AError } from "@a2a-js/sdk/errors";
import { Role, TaskState } from "#gen/lf/a2a/v1/a2a_pb.js";
import type { Clock } from "../../platform/base/clock.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import { refuse } from "../../platform/egress/failure.ts";
import { createGuardedFetch, type Fetch } from "../../platform/egress/guarded-fetch.ts";
import type { Egress } from "../../platform/egress/post.ts";
import type { A2aAgent } from "./agents.ts";
import { findEgressFailure } from "./failure.ts";
import { isOver } from "./fold.ts";
import { answerBytesMax, answerTimeoutMs, messageTimeoutMs, pagesMax, pollMs, streamBytesMax } from "./limits.ts";
import type { Place } from "./storage/a2a-context.ts";

/** A message to send. An agent that knows its id twice may start one task only. */
export interface OutgoingMessage extends Place {
  readonly messageId: string;
  readonly parts: Part[];
}

/** An agent that has shown its card. */
export interface RemoteAgent {
  /** Sends a message. The events are those of its task, as far as the agent shows them. */
  send(message: OutgoingMessage, signal: AbortSignal): AsyncGenerator<StreamResponse>;
  /** The task as it is now, then what comes after it. */
  follow(taskId: string, signal: AbortSignal): AsyncGenerator<StreamResponse>;
  /** Returns the task of a message among those that changed after a time; undefined when the agent lists none. */
  findTask(
    message: { readonly messageId: string; readonly afterMs: number },
    signal: AbortSignal,
  ): Promise<Task | undefined>;
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
  /** Returns whether an error is the agent's refusal of a request: it has begun nothing. */
  isRefusal(error: unknown): boolean;
}

/** Reads the card of an agent. Throws when it has no interface that this service speaks. */
export async function connectAgent(
  { cardUrl, headers, tenant }: A2aAgent,
  {
    egress,
    clock,
    signal,
  }: { readonly egress: Pick<Egress, "open">; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<RemoteAgent> {
  const fetchWithin = (headTimeoutMs: number, bytesMax: number): Fetch =>
    refusingStrangers(
      createGuardedFetch({
        ...{ what: "runner", url: cardUrl, headers, egress },
        headTimeoutMs: () => headTimeoutMs,
        answerBytesMax: bytesMax,
        onBroken: (failure) => tooLong.add(failure),
      }),
    );
  const short = fetchWithin(answerTimeoutMs, answerBytesMax);
  const cardResolver = new DefaultAgentCardResolver({
    ...withOlderAgents,
    fetchImpl: (to, init) => short(String(to), { ...init, signal }),
  });
  const card = await cardResolver.resolve(cardUrl, "");
  const open = async (fetchImpl: Fetch) => {
    const options = { ...withOlderAgents, fetchImpl: fetchImpl as typeof fetch };
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
    return await new ClientFactory({ transports, cardResolver }).createFromAgentCard(card);
  };
  const client = await open(short);
  const talk = await open(fetchWithin(messageTimeoutMs, streamBytesMax));
  const isStreaming = card.capabilities?.streaming === true;
  return {
    send: async function* ({ messageId, contextId, taskId, parts }, stop) {
      const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] };
      const message = { ...rest, messageId, contextId, taskId, role: Role.USER as number, parts };
      const configuration = {
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
        returnImmediately: !isStreaming,
      };
      const request = { tenant, message, configuration, metadata: undefined };
      const options = { signal: stop, serviceParameters: { "Idempotency-Key": messageId } };
      if (isStreaming) {
        yield* talk.sendMessageStream(request, options);
      } else {
        yield eventOf(await talk.sendMessage(request, options));
      }
    },
    follow: async function* (id, stop) {
      for (;;) {
        const task = await client.getTask({ tenant, id, historyLength: 0 }, { signal: stop });
        yield eventOf(task);
        if (isOver(task.status?.state)) {
          return;
        }
        if (isStreaming) {
          return yield* talk.resubscribeTask({ tenant, id }, { signal: stop });
        }
        await clock.sleep(pollMs, stop);
      }
    },
    findTask: async ({ messageId, afterMs }, stop) => {
      let pageToken = "";
      for (let page = 0; page < pagesMax; page++) {
        const listed = await client.listTasks(
          {
            ...{ tenant, contextId: "", pageToken, status: TaskState.UNSPECIFIED as number, pageSize: 100 },
            statusTimestampAfter: new Date(afterMs).toISOString(),
          },
          { signal: stop },
        );
        const found = listed.tasks.find(({ history }) => history.some((each) => each.messageId === messageId));
        pageToken = listed.nextPageToken;
        if (found !== undefined || pageToken === "") {
          return found;
        }
      }
      return undefined;
    },
    cancel: async (id, stop) => void (await client.cancelTask({ tenant, id, metadata: undefined }, { signal: stop })),
    isRefusal,
  };
}

/** An interface of version 0.3 gets messages of that version: many agents have no other. */
const withOlderAgents = { legacyCompat: { enabled: true } };

function isRefusal(error: unknown): boolean {
  const failure = findEgressFailure(error);
  return error instanceof A2AError
    ? error.reason !== "INTERNAL_ERROR"
    : failure?.isRetryable === false && !tooLong.has(failure);
}

/** The failures of answers that were cut: their agents had begun. */
const tooLong = new WeakSet<Error>();

function eventOf(result: SendMessageResult): StreamResponse {
  return "messageId" in result
    ? { payload: { $case: "message", value: result } }
    : { payload: { $case: "task", value: result } };
}

/**
 * Throws for the refusals that the client does not know as such: it would quote their bodies, and a message would count as sent. It reads
 * the errors of the protocol itself.
 */
function refusingStrangers(guarded: Fetch): Fetch {
  return async (to, init) => {
    const response = await guarded(to, init);
    const { status, headers } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      throw refuse(`the agent answered ${status}: give it valid credentials in the headers`);
    }
    // After the time of a request (408) the agent may have begun.
    if (status < 400 || status >= 500 || status === 408) {
      return response;
    }
    const text = await response.text();
    if (parseObject(text)?.error === undefined) {
      throw refuse(`the agent answered ${status}`);
    }
    return new Response(text, { status, headers });
  };
}
