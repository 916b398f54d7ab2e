// How the console writes times, amounts and ids.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

const locale = "en-GB";
const whole = new Intl.NumberFormat(locale);
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });

/** Example: 1204 gives `1,204`. */
export function formatCount(count: number | bigint): string {
  return whole.format(count);
}

/** Example: 34200 gives `34.2k`. */
export function formatShort(count: number): string {
  return count < 10_000
    ? whole.format(count)
    : count < 1_000_000
      ? `${(count / 1e3).toFixed(1)}k`
      : `${(count / 1e6).toFixed(1)}M`;
}

/** Example: 61500 gives `1m 01s`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < 1_000) {
    return `${Math.round(ms)} ms`;
  }
  if (ms < 60_000) {
    return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  }
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}h ${pad(minutes)}m` : `${minutes}m ${pad(seconds % 60)}s`;
}

/** Returns whole seconds, for times that count down. Example: 4200 gives `5 s`, and 61500 gives `1m 02s`. */
export function formatCountdown(durationMs: number): string {
  const seconds = Math.ceil(Math.max(0, durationMs) / 1_000);
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** Example: `3 min ago`. */
export function formatAge(ageMs: number): string {
  const seconds = Math.floor(Math.max(0, ageMs) / 1_000);
  if (seconds < 5) {
    return "just now";
  }
  if (seconds < 60) {
    return `${seconds} s ago`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min ago`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

/** Example: 1250000 millionths give `$1.25`, and 12 give `<$0.0001`. */
export function formatCost(microUsd: number): string {
  const usd = microUsd / 1e6;
  return usd === 0 ? "$0" : usd < 0.0001 ? "<$0.0001" : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** Returns a cost; undefined for tokens without any cost, because sums count an unknown price as 0. */
export function knownCost(microUsd: number, tokens: number): number | undefined {
  return microUsd === 0 && tokens > 0 ? undefined : microUsd;
}

/** Returns all digits below a dollar, and cents from there on. Example: 12345 millionths give `$0.012345`. */
export function formatSum(microUsd: number): string {
  return microUsd < 1e6 ? formatExactCost(microUsd) : formatCost(microUsd);
}

/** Returns all digits. Example: 12345 millionths give `$0.012345`, and 5000000 give `$5.00`. */
export function formatExactCost(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(6).replace(/0{0,4}$/, "")}`;
}

export function formatTime(timeMs: number): string {
  return full.format(timeMs);
}

/** Example: `2026-11-21`, a day in UTC, gives `21 Nov 2026`. */
export function formatDay(utcDay: string): string {
  return day.format(Date.parse(utcDay));
}

/** Example: 1204 gives `1.2 kB`. */
export function formatBytes(bytes: number): string {
  return bytes < 1_000
    ? `${bytes} B`
    : bytes < 1e6
      ? `${(bytes / 1e3).toFixed(1)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Returns the end of an id, which differs between ids of the same minute. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Returns undefined for an unset time. */
export function msOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

function pad(count: number): string {
  return String(count).padStart(2, "0");
}
