// The targets of the figures, each for one metric of one variant. Absolute figures hold for two dedicated cores.

export interface Target {
  /** The work in words. */
  readonly work: string;
  readonly bench: string;
  readonly variant: string;
  readonly metric: string;
  readonly least?: number;
  readonly most?: number;
}

export const targets: readonly Target[] = [
  ...startTargets(),
  ...burstTargets(),
  ...shortTargets(),
  ...pacedTargets(),
  ...callTargets(),
  ...firstResultTargets(),
  ...fanOutTargets(),
  ...logTargets(),
  ...queueTargets(),
  ...bashTargets(),
  ...consoleTargets(),
];

function startTargets(): Target[] {
  const start = { bench: "ready", metric: "ready, ms" };
  return [
    { ...start, work: "start, cold", variant: "cold (creates the database)", most: 4_000 },
    { ...start, work: "start, warm", variant: "warm (Postgres stopped)", most: 1_500 },
  ];
}

function burstTargets(): Target[] {
  return ["gRPC", "REST + SSE"].flatMap((variant) => {
    const burst = { bench: "burst", variant };
    const work = `200 deltas at once, 64 at a time, ${variant}`;
    return [
      { ...burst, work: `${work}: complete text`, metric: "text complete, % of runs", least: 100 },
      { ...burst, work: `${work}: completed`, metric: "done, % of runs", least: 100 },
      { ...burst, work: `${work}: CPU`, metric: "service CPU per delta, µs", most: 10 },
    ];
  });
}

function shortTargets(): Target[] {
  return ["gRPC", "REST + SSE"].map((variant) => ({
    bench: "short",
    variant,
    work: `one delta, 64 at a time, ${variant}`,
    metric: "runs/s",
    least: 500,
  }));
}

function pacedTargets(): Target[] {
  const addedMs = { 1: 8, 16: 22, 64: 15, 128: 70 } as const;
  return Object.entries(addedMs).flatMap(([concurrency, most]) =>
    ["gRPC", "REST + SSE"].flatMap((way) => {
      const paced = { bench: "paced", variant: `${concurrency} × ${way}` };
      const work = `a delta per 5 ms, ${concurrency} at a time, ${way}`;
      return [
        { ...paced, work: `${work}: time added to a run`, metric: "added to a run p50, ms", most },
        { ...paced, work: `${work}: CPU`, metric: "service CPU per delta, µs", most: 25 },
      ];
    }),
  );
}

function callTargets(): Target[] {
  const calls = (bench: string, variant: string, work: string, least: number): Target => ({
    bench,
    variant,
    work: `${work}, ${variant}`,
    metric: "calls/s",
    least,
  });
  return [
    calls("unary", "gRPC", "a call without the database", 4_000),
    calls("unary", "Connect JSON", "a call without the database", 8_000),
    calls("create", "gRPC", "create a session", 2_000),
    calls("create", "Connect JSON", "create a session", 2_000),
    calls("create", "REST", "create a session", 2_000),
  ];
}

function firstResultTargets(): Target[] {
  return ["gRPC", "REST + SSE"].flatMap((variant) => {
    const first = { bench: "first", variant };
    const work = `message to first result, idle, ${variant}`;
    return [
      { ...first, work: `${work}: p50`, metric: "first result p50, ms", most: 6 },
      { ...first, work: `${work}: p99`, metric: "first result p99, ms", most: 25 },
    ];
  });
}

function fanOutTargets(): Target[] {
  const shares = { "gRPC, 20 connections": 30, "gRPC, 1000 connections": 60, "SSE, 1000 connections": 40 } as const;
  return Object.entries(shares).flatMap(([variant, most]) => {
    const fanOut = { bench: "fan-out", variant };
    const work = `1 run to 1,000 readers, 50 results/s, ${variant}`;
    return [
      { ...fanOut, work: `${work}: delivered`, metric: "deliveries/s", least: 45_000 },
      { ...fanOut, work: `${work}: CPU`, metric: "service CPU at 50 results/s, % of a core", most },
      { ...fanOut, work: `${work}: age p99`, metric: "delta age p99, ms", most: 250 },
    ];
  });
}

function logTargets(): Target[] {
  const sustained = { bench: "append", variant: "50,000 a second" };
  return [
    { ...sustained, work: "append, sustained", metric: "results/s", least: 49_000 },
    { ...sustained, work: "append, sustained: durable", metric: "append → durable p99, ms", most: 25 },
    {
      bench: "append",
      work: "append, as fast as possible, against bare unnest",
      variant: "as fast as possible",
      metric: "results/s, ratio to bare",
      least: 0.6,
    },
    ...["one in flight per run", "as fast as possible"].map((variant) => ({
      bench: "chain",
      work: `hash chain of the log, ${variant}, against append`,
      variant,
      metric: "chain, % of CPU",
      most: 5,
    })),
    { bench: "replay", work: "replay to one gRPC reader", variant: "gRPC", metric: "results/s", least: 100_000 },
  ];
}

function queueTargets(): Target[] {
  const claim = { bench: "queue", work: "claim of ten runs, 100,000 queued", metric: "claim p50, ms" };
  return [
    { ...claim, variant: "100,000 queued, 1 claiming", most: 30 },
    {
      bench: "wake-ups",
      work: "commits with wake-ups beside, against commits alone",
      variant: "coalesced wake-ups beside",
      metric: "commits/s, ratio to alone",
      least: 0.9,
    },
  ];
}

function bashTargets(): Target[] {
  return [{ bench: "bash", variant: "in the jail", work: "a command of bash: p50", metric: "p50, ms", most: 25 }];
}

function consoleTargets(): Target[] {
  const shown = { bench: "console", metric: "shown after, ms" };
  const watch = { bench: "console", variant: "a run that streams 200 pieces/s" };
  return [
    { ...shown, work: "console: first list with a million runs", variant: "a list of runs", most: 300 },
    { ...shown, work: "console: a run of 20,000 entries", variant: "a run opened at its middle", most: 2_000 },
    { ...shown, work: "console: an answer of 5 MB", variant: "an answer of 5 MB", most: 1_000 },
    // A screen that shows 60 a second misses one at the beginning or at the end.
    { ...watch, work: "console: frames of a run that streams", metric: "frames a second", least: 59 },
    // In the first half, V8 compiles what the stream calls.
    { ...watch, work: "console: memory of a run that streams", metric: "its growth in the last half, MB", most: 0.5 },
    {
      ...{ bench: "console", variant: "the entries of an hour at 200 pieces/s" },
      ...{ work: "console: memory over an hour's entries", metric: "its growth in the last half, MB", most: 0.5 },
    },
  ];
}
