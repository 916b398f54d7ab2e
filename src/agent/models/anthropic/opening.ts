// Makes the SDK return a response as soon as its headers arrive. By default the SDK waits for the first event. It discards the
// response when that event is an error, is unreadable or never arrives: cases that our own code must judge.

// A valid event without content or effect: the mark of a model change, which we never request.
const opening = new TextEncoder().encode(
  'data: {"type":"content_block_start","index":0,"content_block":{"type":"fallback","from":{"model":""},"to":{"model":""}}}\n\n',
);

/** Returns the same `fetch`, except that each response body begins with the event above. */
export function withOpening(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const { body } = await fetch(input, init);
    return new Response(body === null ? opening : prepend(opening, body));
  };
}

function prepend(first: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = rest.getReader();
  return new ReadableStream({
    start: (controller) => controller.enqueue(first),
    pull: async (controller) => {
      const { done, value } = await reader.read();
      done ? controller.close() : controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
