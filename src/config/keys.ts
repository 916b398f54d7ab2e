// Every setting, in one table: the loader, its messages and the documentation are made from it.

export interface Key<T> {
  /** Environment variables that set it; the first one that is set counts. An empty one counts as unset. */
  readonly env: readonly [string, ...string[]];
  readonly fallback: T;
  /** Turns the text of a variable into the value, or says what it should look like. */
  readonly read: (text: string) => T | Expected;
  readonly about: string;
  /** Never shown. */
  readonly secret?: true;
}

export class Expected {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

export const keys = {
  serverHost: text("RUNNEL_SERVER_HOST", "127.0.0.1", "Address to listen on."),
  serverPort: integer("RUNNEL_SERVER_PORT", 8090, 0, 65_535, "Port to listen on; 0 picks a free one."),
  serverDrainSeconds: integer("RUNNEL_SERVER_DRAIN_SECONDS", 25, 0, 3_600, "Longest a stop waits for open calls."),
  databaseUrl: {
    ...text("RUNNEL_DATABASE_URL", "", "Postgres 15 or newer to use instead of the embedded one."),
    env: ["RUNNEL_DATABASE_URL", "DATABASE_URL"],
    secret: true,
  },
  databaseDir: text("RUNNEL_DATABASE_DIR", "./.runnel", "Where the embedded Postgres keeps its data."),
  databasePoolSize: integer("RUNNEL_DATABASE_POOL_SIZE", 8, 2, 100, "Connections for queries; eight more are used."),
  openaiKey: { ...text("RUNNEL_PROVIDERS_OPENAI_KEY", "", "API key of the OpenAI-compatible provider."), secret: true },
  openaiBaseUrl: text(
    "RUNNEL_PROVIDERS_OPENAI_BASE_URL",
    "https://api.openai.com/v1",
    "Base URL of the OpenAI-compatible provider; requests go to its /chat/completions.",
  ),
  retryBaseMs: integer(
    "RUNNEL_PROVIDERS_RETRY_BASE_MS",
    1_000,
    1,
    60_000,
    "First delay before a model is tried again.",
  ),
  defaultModel: text("RUNNEL_DEFAULTS_MODEL", "", "Model of agents that name none; without a provider it is `demo`."),
  defaultMaxTurns: integer("RUNNEL_DEFAULTS_MAX_TURNS", 30, 1, 10_000, "Most model responses of a run."),
  defaultMaxTokens: integer("RUNNEL_DEFAULTS_MAX_TOKENS", 4_096, 1, 1_000_000, "Most tokens of a model response."),
  defaultTimeoutSecs: integer("RUNNEL_DEFAULTS_TIMEOUT_SECS", 300, 1, 86_400, "Longest time of a run."),
  sessionsMaxConcurrent: integer(
    "RUNNEL_SESSIONS_MAX_CONCURRENT",
    50,
    0,
    1_000_000,
    "Most active runs over all replicas; 0 means no limit.",
  ),
  sessionsWorkRoot: text(
    "RUNNEL_SESSIONS_WORK_ROOT",
    "",
    "Where sessions that name no work_dir get one; unset means `work` beside the database directory's data.",
  ),
  runsSlots: integer("RUNNEL_RUNS_SLOTS", 256, 1, 10_000, "Most runs that one replica works on at a time."),
  runsLeaseMs: integer(
    "RUNNEL_RUNS_LEASE_MS",
    5_000,
    300,
    60_000,
    "After this silence a replica's runs are taken over.",
  ),
  retentionDays: integer("RUNNEL_RETENTION_DAYS", 7, 1, 3_650, "How long logs of runs are kept."),
  logLevel: choice("RUNNEL_LOG_LEVEL", logLevels, "info", "Least important log line that is written."),
} as const satisfies Record<string, Key<unknown>>;

/** All settings, by name, with their types. */
export type Config = { readonly [Name in keyof typeof keys]: (typeof keys)[Name]["fallback"] };

/** A server of one's own may want no key: naming it is enough. */
export function isOpenAiConfigured({ openaiKey, openaiBaseUrl }: Config): boolean {
  return openaiKey !== "" || openaiBaseUrl !== keys.openaiBaseUrl.fallback;
}

function text(env: string, fallback: string, about: string): Key<string> {
  return { env: [env], fallback, about, read: (value) => value };
}

function integer(env: string, fallback: number, min: number, max: number, about: string): Key<number> {
  const read = (value: string): number | Expected => {
    const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : new Expected(`a whole number from ${min} to ${max}`);
  };
  return { env: [env], fallback, about, read };
}

function choice<const Words extends readonly string[]>(
  env: string,
  words: Words,
  fallback: Words[number],
  about: string,
): Key<Words[number]> {
  return {
    env: [env],
    fallback,
    about,
    read: (value) => words.find((word) => word === value) ?? new Expected(`one of ${words.join(", ")}`),
  };
}
