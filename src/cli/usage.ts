// `runnel usage`: shows what the caller's runs have used today, and the budget.

import type { Command } from "commander";
import { type DayUsage, type GetUsageResponse, GetUsageResponseSchema } from "#gen/runnel/v1/system_service_pb.js";
import { answerJson } from "./answer-json.ts";
import { addUrlFlag, type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { outputOf } from "./output.ts";
import { readPages } from "./pages.ts";
import { showTable } from "./table.ts";

const microsOfOne = 1_000_000n;

/** Defines `usage`. */
export function defineUsage(command: Command): void {
  addUrlFlag(command)
    .addHelpText("after", example("runnel usage --json"))
    .action(({ url }: { url: string }) =>
      withService(url, async ({ system }) => {
        const budget = await system.getUsage({});
        const usage = hasBudget(budget) ? budget : { ...budget, ...(await sumDay(system, budget.day)) };
        await outputOf(command).answer(answerJson(GetUsageResponseSchema, usage), (paint) =>
          showTable([usage.day || "TODAY", "USED", "BUDGET"], rowsOf(usage), paint),
        );
      }),
    );
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
    ["US dollars", showMicros(costMicroUsd), costMicroUsdMax === 0n ? "no limit" : showMicros(costMicroUsdMax)],
  ];
}

/** Prints exactly, because single runs cost fractions of a cent. */
function showMicros(micros: bigint): string {
  const fraction = String(micros % microsOfOne).padStart(6, "0");
  return `${micros / microsOfOne}.${fraction.replace(/0{0,4}$/, "")}`;
}
