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

/** A client and a key that proves it: both the bearer token and the secret of its signatures. */
export interface ClientKey {
  readonly client: string;
  readonly key: string;
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

export const keys = {
  serverHost: documented(text("SERVER_HOST", "0.0.0.0", "Address to listen on.")),
  serverPort: documented(integer("SERVER_PORT", 8090, 0, 65_535, "Port to listen on; 0 picks a free one.")),
  serverH2Port: {
    ...integer(
      "RUNNEL_SERVER_H2_PORT",
      0,
      0,
      65_535,
      "Port for HTTP/2 alone; the other one then speaks HTTP/1.1 alone.",
    ),
    fallback: undefined as number | undefined,
  },
  serverDrainSeconds: integer("RUNNEL_SERVER_DRAIN_SECONDS", 25, 0, 3_600, "Longest a stop waits for open calls."),
  serverMaxBodyBytes: documented(
    integer("SERVER_MAX_BODY_BYTES", 10 * 1_048_576, 1_024, 64 * 1_048_576, "Most bytes of a REST body."),
  ),
  serverReadHeaderTimeoutSec: documented(
    integer("SERVER_READ_HEADER_TIMEOUT_SEC", 5, 1, 600, "Longest time to receive the head of a request."),
  ),
  serverReadTimeoutSec: documented(
    integer("SERVER_READ_TIMEOUT_SEC", 30, 1, 3_600, "Longest time to receive a request, body included."),
  ),
  serverWriteTimeoutSec: documented(
    integer("SERVER_WRITE_TIMEOUT_SEC", 65, 1, 3_600, "Longest time to answer a request that is no stream."),
  ),
  serverIdleTimeoutSec: documented(
    integer("SERVER_IDLE_TIMEOUT_SEC", 120, 1, 3_600, "How long a connection without requests is kept."),
  ),
  serverConnectionsMax: integer("RUNNEL_SERVER_CONNECTIONS_MAX", 10_000, 1, 1_000_000, "Most open connections."),
  serverConnectionsPerAddressMax: integer(
    "RUNNEL_SERVER_CONNECTIONS_PER_ADDRESS_MAX",
    2_500,
    1,
    1_000_000,
    "Most open connections of one address; a proxy is one address.",
  ),
  serverStreamsPerConnectionMax: integer(
    "RUNNEL_SERVER_STREAMS_PER_CONNECTION_MAX",
    100,
    1,
    10_000,
    "Most streams of one HTTP/2 connection at a time; 250 suits a proxy.",
  ),
  serverCorsOrigins: list(
    "RUNNEL_SERVER_CORS_ORIGINS",
    /^(?:\*|https?:\/\/[^\s/?#]+)$/,
    "origins such as https://app.example, separated by commas, or *",
    "Origins whose pages may call.",
  ),
  serverReflection: flag("RUNNEL_SERVER_REFLECTION", false, "Whether gRPC reflection answers."),
  metricsPort: {
    ...integer(
      "RUNNEL_METRICS_PORT",
      0,
      0,
      65_535,
      "Port on loopback where Prometheus reads /metrics; 0 picks a free one.",
    ),
    fallback: undefined as number | undefined,
  },
  tlsCertFile: documented(
    text("TLS_CERT_FILE", "", "PEM file with the server's certificate chain; with it the port speaks TLS."),
  ),
  tlsKeyFile: documented(text("TLS_KEY_FILE", "", "PEM file with the certificate's private key.")),
  tlsClientCaFile: text(
    "RUNNEL_TLS_CLIENT_CA_FILE",
    "",
    "PEM file with the authorities of client certificates; with it every connection must present one.",
  ),
  authHmacSecret: documented(secret("AUTH_HMAC_SECRET", "Secret of request signatures that all callers share.")),
  authHmacSecretPrevious: secret(
    "RUNNEL_AUTH_HMAC_SECRET_PREVIOUS",
    "The secret before, still good while callers change over.",
  ),
  authHmacV1: flag(
    "RUNNEL_AUTH_HMAC_V1",
    true,
    "Whether signatures as the Agent Runner document has them are good, which bind neither method, path nor client.",
  ),
  authApiKeys: {
    env: ["RUNNEL_AUTH_API_KEYS"],
    fallback: [] as readonly ClientKey[],
    read: readClientKeys,
    about: "Keys of clients, `client=key`, one a line; several lines of one client overlap while a key is replaced.",
    secret: true,
  },
  authAdminToken: {
    ...secret(
      "RUNNEL_AUTH_ADMIN_TOKEN",
      "Bearer token of administration and debug calls; without one they are refused.",
    ),
    read: readToken,
  },
  rateLimitRps: documented(
    integer("RATELIMIT_RPS", 20, 0, 1_000_000, "Requests per second of one client; 0 means no limit."),
  ),
  rateLimitBurst: documented(integer("RATELIMIT_BURST", 40, 1, 1_000_000, "Requests of one client at once.")),
  rateLimitFailuresRps: integer(
    "RUNNEL_RATELIMIT_FAILURES_RPS",
    20,
    0,
    1_000_000,
    "Failed attempts per second of one network; 0 means no limit, for a service behind a proxy, which is one network.",
  ),
  databaseUrl: {
    ...text("DATABASE_URL", "", "Postgres 15 or newer to use instead of the embedded one."),
    env: ["RUNNEL_DATABASE_URL", "DATABASE_URL"],
    secret: true,
  },
  databaseDir: text("RUNNEL_DATABASE_DIR", "./.runnel", "Where the embedded Postgres keeps its data."),
  databasePoolSize: integer("RUNNEL_DATABASE_POOL_SIZE", 8, 2, 100, "Connections for queries; eight more are used."),
  openaiKey: documented(secret("PROVIDERS_OPENAI_KEY", "API key of the OpenAI-compatible provider.")),
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
  defaultModel: documented(
    text("DEFAULTS_MODEL", "", "Model of agents that name none; without a provider it is `demo`."),
  ),
  defaultMaxTurns: documented(integer("DEFAULTS_MAX_TURNS", 30, 1, 10_000, "Most model responses of a run.")),
  defaultMaxTokens: documented(integer("DEFAULTS_MAX_TOKENS", 4_096, 1, 1_000_000, "Most tokens of a model response.")),
  defaultTimeoutSecs: documented(integer("DEFAULTS_TIMEOUT_SECS", 300, 1, 86_400, "Longest time of a run.")),
  sessionsMaxConcurrent: documented(
    integer("SESSIONS_MAX_CONCURRENT", 50, 0, 1_000_000, "Most active runs over all replicas; 0 means no limit."),
  ),
  sessionsSingleMessage: flag(
    "RUNNEL_SESSIONS_SINGLE_MESSAGE",
    false,
    "Whether a session takes one message only, as the Agent Runner document's own service does.",
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

/** Variables of the Agent Runner document whose parts of it are not there yet. Who sets one is told. */
export const documentedWithoutEffect = [
  "AGENT_RUNNER_PROVIDERS_GEMINI_KEY",
  "AGENT_RUNNER_PROVIDERS_ANTHROPIC_KEY",
  "AGENT_RUNNER_SESSIONS_TTL_MINUTES",
  "AGENT_RUNNER_CALLBACK_BASE_URL",
  "AGENT_RUNNER_CALLBACK_TIMEOUT_SEC",
  "AGENT_RUNNER_CB_MAX_FAILURES",
  "AGENT_RUNNER_CB_RESET_TIMEOUT_SEC",
  "AGENT_RUNNER_SECURITY_ALLOW_PRIVATE_NETWORKS",
] as const;

/** All settings, by name, with their types. */
export type Config = { readonly [Name in keyof typeof keys]: (typeof keys)[Name]["fallback"] };

/** A server of one's own may want no key: naming it is enough. */
export function isOpenAiConfigured({ openaiKey, openaiBaseUrl }: Config): boolean {
  return openaiKey !== "" || openaiBaseUrl !== keys.openaiBaseUrl.fallback;
}

/** Whoever calls has to prove who it is as soon as there is anything to prove it with. */
export function isAuthConfigured({ authHmacSecret, authApiKeys, authAdminToken }: Config): boolean {
  return authHmacSecret !== "" || authApiKeys.length > 0 || authAdminToken !== "";
}

/** A setting of the Agent Runner document goes by the document's name too. */
function documented<K extends Key<unknown>>(key: K): K {
  const [name] = key.env;
  return { ...key, env: [`RUNNEL_${name}`, `AGENT_RUNNER_${name}`] };
}

function secret(env: string, about: string): Key<string> {
  return { ...text(env, "", about), secret: true };
}

function flag(env: string, fallback: boolean, about: string): Key<boolean> {
  const words: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };
  return { env: [env], fallback, about, read: (value) => words[value] ?? new Expected("true or false") };
}

function list(env: string, item: RegExp, expected: string, about: string): Key<readonly string[]> {
  const read = (value: string): readonly string[] | Expected => {
    const items = value.split(",").map((each) => each.trim());
    return items.every((each) => item.test(each)) ? items : new Expected(expected);
  };
  return { env: [env], fallback: [], about, read };
}

/** Short keys can be guessed, and a line that is wrong must not quietly lock a client out. */
const keyCharsMin = 16;

function readToken(text: string): string | Expected {
  const isRight = /^[\x21-\x7e]+$/.test(text) && text.length >= keyCharsMin;
  return isRight ? text : new Expected(`at least ${keyCharsMin} visible ASCII characters`);
}

function readClientKeys(text: string): readonly ClientKey[] | Expected {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const keys = lines.map((line) => /^\s*([\x21-\x3c\x3e-\x7e]{1,128})=(\S+)\s*$/.exec(line));
  const read = keys.flatMap((match) => (match === null ? [] : [{ client: match[1] ?? "", key: match[2] ?? "" }]));
  const isRight = read.length === lines.length && read.every(({ key }) => key.length >= keyCharsMin);
  return isRight ? read : new Expected(`lines of client=key, with keys of at least ${keyCharsMin} characters`);
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
