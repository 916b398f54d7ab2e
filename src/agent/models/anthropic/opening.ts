// Lets the SDK hand over a response as soon as its headers are there. By itself it waits for the first event, and throws
// the response away when that is an error, a line it cannot read, or never comes: cases that are ours to judge.

// An event that is valid, is no content and leaves no trace: the mark of a change of models, which we never ask for.
const opening = new TextEncoder().encode(
  'data: {"type":"content_block_start","index":0,"content_block":{"type":"fallback","from":{"model":""},"to":{"model":""}}}\n\n',
);

/** The same `fetch`, whose responses begin with an event of ours. */
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
