// `runnel usage`: shows what the caller's runs have used today, and the budget; with `--by`, what they used by agent, model or client.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Command, Option } from "commander";
import { type DayUsage, type GetUsageResponse, GetUsageResponseSchema } from "#gen/runnel/v1/system_service_pb.js";
import {
  type TimePercentiles,
  UsageGroup,
  type UsageReport,
  UsageReportSchema,
  type UsageSeries,
  UsageService,
} from "#gen/runnel/v1/usage_service_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { answerJson } from "./answer-json.ts";
import { type Service, withAdministration, withService } from "./connect.ts";
import { example } from "./example.ts";
import { outputOf } from "./output.ts";
import { readPages } from "./pages.ts";
import { showTable } from "./table.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

const microsOfOne = 1_000_000n;

const groups = {
  agent: UsageGroup.AGENT,
  model: UsageGroup.MODEL,
  client: UsageGroup.CLIENT,
} as const;

const hourMs = 3_600_000;
const spans = {
  "1h": hourMs,
  "24h": 24 * hourMs,
  "7d": 7 * 24 * hourMs,
  "30d": 30 * 24 * hourMs,
  "90d": 90 * 24 * hourMs,
} as const;

interface UsageFlags extends ServiceFlags {
  readonly by?: keyof typeof groups;
  readonly last: keyof typeof spans;
}

/** Defines `usage`. */
export function defineUsage(command: Command): void {
  addServiceFlags(command)
    .addOption(
      new Option("--by <what>", "add up ended runs by this; `client` needs the admin token").choices(
        Object.keys(groups),
      ),
    )
    .addOption(new Option("--last <time>", "with --by: the time to add up").choices(Object.keys(spans)).default("24h"))
    .addHelpText("after", example("runnel usage --by agent --last 7d"))
    .action(({ by, ...flags }: UsageFlags) =>
      by === undefined
        ? withService(flags, (service) => answerToday(command, service))
        : answerGroups(command, { ...flags, by }),
    );
}

async function answerToday(command: Command, { system }: Service): Promise<void> {
  const budget = await system.getUsage({});
  const usage = hasBudget(budget) ? budget : { ...budget, ...(await sumDay(system, budget.day)) };
  await outputOf(command).answer(answerJson(GetUsageResponseSchema, usage), (paint) =>
    showTable([usage.day || "TODAY", "USED", "BUDGET"], rowsOf(usage), paint),
  );
}

async function answerGroups(
  command: Command,
  { by, last, ...flags }: UsageFlags & Required<Pick<UsageFlags, "by">>,
): Promise<void> {
  const request = { groupBy: groups[by], timeFrom: timestampFromMs(systemClock.nowMs() - spans[last]) };
  const { report = create(UsageReportSchema) } =
    by === "client"
      ? await withAdministration(flags, ({ client }) => client(UsageService).queryUsageOfClients(request))
      : await withService(flags, ({ client }) => client(UsageService).queryUsage(request));
  await outputOf(command).answer(answerJson(UsageReportSchema, report), (paint) =>
    showTable([by.toUpperCase(), ...columns], groupRows(report), paint),
  );
}

const columns = ["RUNS", "FAILED", "CANCELLED", "P50", "P95", "P99", "TEXT AFTER", "TOKENS", "US DOLLARS"];

function groupRows({ series }: UsageReport): string[][] {
  return series.map(({ name, isRest, total }: UsageSeries) => {
    const { completed = 0n, failed = 0n, cancelled = 0n, promptTokens = 0n, completionTokens = 0n } = total ?? {};
    return [
      isRest ? "(all others)" : name || "–",
      ...[completed + failed + cancelled, failed, cancelled].map(String),
      ...showTimes(total?.duration),
      showTimes(total?.firstText)[0] ?? "",
      String(promptTokens + completionTokens),
      showCost(total?.costMicroUsd ?? 0n, promptTokens + completionTokens),
    ];
  });
}

function showTimes(times: TimePercentiles | undefined): string[] {
  return [times?.p50Ms, times?.p95Ms, times?.p99Ms].map((ms) =>
    ms === undefined ? "–" : showSeconds(Number(ms) / 1_000),
  );
}

/** Example: `0.42 s`, or `61 s`. */
function showSeconds(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`;
}

function hasBudget({ tokensMax, costMicroUsdMax }: GetUsageResponse): boolean {
  return tokensMax > 0n || costMicroUsdMax > 0n;
}

/** Sums the ended runs of a day: without a budget the service keeps no sum. */
async function sumDay(
  system: Service["system"],
  day: string,
): Promise<Pick<GetUsageResponse, "tokens" | "costMicroUsd">> {
  const { items } = await readPages(async (request) => {
    const page = await system.listUsage({ dayFrom: day, dayTo: day, ...request });
    return { items: page.days, nextPageToken: page.nextPageToken };
  }, Number.MAX_SAFE_INTEGER);
  const sum = (read: (row: DayUsage) => bigint): bigint => items.reduce((total, row) => total + read(row), 0n);
  return {
    tokens: sum(({ promptTokens, completionTokens }) => promptTokens + completionTokens),
    costMicroUsd: sum(({ costMicroUsd }) => costMicroUsd),
  };
}

function rowsOf({ tokens, tokensMax, costMicroUsd, costMicroUsdMax }: GetUsageResponse): string[][] {
  return [
    ["tokens", String(tokens), tokensMax === 0n ? "no limit" : String(tokensMax)],
    ["US dollars", showCost(costMicroUsd, tokens), costMicroUsdMax === 0n ? "no limit" : showMicros(costMicroUsdMax)],
  ];
}

/** A sum counts an unknown price as 0. */
function showCost(micros: bigint, tokens: bigint): string {
  return micros === 0n && tokens > 0n ? "unknown" : showMicros(micros);
}

/** Prints exactly, because single runs cost fractions of a cent. */
function showMicros(micros: bigint): string {
  const fraction = String(micros % microsOfOne).padStart(6, "0");
  return `${micros / microsOfOne}.${fraction.replace(/0{0,4}$/, "")}`;
}
