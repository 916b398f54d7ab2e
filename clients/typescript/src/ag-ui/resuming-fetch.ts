// A fetch for AG-UI's HttpAgent that survives cut connections: `new HttpAgent({ url, fetch: resumingFetch() })`. Each frame has an
// id; after a cut the same request goes out again with `Last-Event-ID`, and the agent reads one whole stream.

/** Options of `resumingFetch`. */
export interface ResumingFetchOptions {
  /** The fetch to call; the default is the platform's. */
  readonly fetch?: typeof fetch;
  /** The delay before a connection is opened again, in milliseconds. */
  readonly delayMs?: number;
  /** How many times in a row a connection may bring nothing before the stream fails. */
  readonly attemptsMax?: number;
}

/** Returns the fetch. A request that was refused, or aborted, is not repeated. */
export function resumingFetch(options: ResumingFetchOptions = {}): typeof fetch {
  const { fetch: ask = fetch, delayMs = 500, attemptsMax = 10 } = options;
  return async (input, init) => {
    const first = await ask(input, init);
    if (!first.ok || first.body === null) {
      return first;
    }
    const again = async (lastEventId: string): Promise<Response> => {
      const headers = new Headers(init?.headers);
      headers.set("last-event-id", lastEventId);
      return await ask(input, { ...init, headers });
    };
    const frames = readFrames(first, again, { delayMs, attemptsMax, signal: init?.signal ?? undefined });
    return new Response(ReadableStream.from(frames).pipeThrough(new TextEncoderStream()), first);
  };
}

interface Retries {
  readonly delayMs: number;
  readonly attemptsMax: number;
  readonly signal: AbortSignal | undefined;
}

/** Yields whole frames only: a frame that was cut comes again. */
async function* readFrames(
  first: Response,
  again: (lastEventId: string) => Promise<Response>,
  { delayMs, attemptsMax, signal }: Retries,
): AsyncGenerator<string, void> {
  let response: Response | undefined = first;
  let lastEventId = "";
  for (let attempts = 0; ; attempts++) {
    try {
      let rest = "";
      for await (const text of response?.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const parts = `${rest}${text}`.split("\n\n");
        rest = parts.pop() ?? "";
        // A service that stops ends the stream with this error: it is not the end of the run.
        for (const frame of parts.filter((each) => !/^data: .*"code":"resume"/m.test(each))) {
          const [, id] = /^id: (.*)$/m.exec(frame) ?? [];
          lastEventId = id ?? lastEventId;
          attempts = id === undefined ? attempts : 0;
          yield `${frame}\n\n`;
          if (/^data: \{"type":"RUN_(?:FINISHED|ERROR)"/m.test(frame)) {
            return;
          }
        }
      }
    } catch (error) {
      if (signal?.aborted || attempts >= attemptsMax) {
        throw error;
      }
    }
    if (attempts >= attemptsMax) {
      throw new Error(`the stream brought nothing new in ${attemptsMax} attempts`);
    }
    await new Promise((resolve) => setTimeout(resolve, attempts === 0 ? 0 : delayMs));
    response = await again(lastEventId).catch(() => undefined);
  }
}
