// One number by day: bars on an axis from 0, a line with the exact values of the chosen day or of all days.

import { type Dispatch, type KeyboardEvent, type PointerEvent, type SetStateAction, useId } from "react";
import { formatDay } from "../lib/format.ts";

interface Series {
  /** Empty when the title says it all. */
  readonly name: string;
  readonly values: readonly number[];
}

/** The number of intervals of an axis. */
const intervalsMax = 4;
/** A bar that is not 0 can be seen. */
const barMinPercent = 1;
const barShare = 0.72;
/** The days from one label to the next, so that labels have room. */
const labelSteps: Readonly<Record<number, number>> = { 7: 2, 30: 7, 90: 28 };

const moves: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => Math.max(0, index - 1),
  ArrowRight: (index, last) => Math.min(last, index + 1),
  Home: () => 0,
  End: (_index, last) => last,
};

export function Chart({
  title,
  days,
  series,
  format,
  formatTick,
  shown,
  onShow,
}: {
  readonly title: string;
  readonly days: readonly string[];
  /** From the axis upwards. */
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly formatTick: (value: number) => string;
  /** The index of the day whose values are shown. */
  readonly shown: number | undefined;
  readonly onShow: Dispatch<SetStateAction<number | undefined>>;
}) {
  const id = useId();
  const last = days.length - 1;
  const ticks = ticksOf(Math.max(...days.map((_, index) => heightOf(series, index))));
  const current = shown ?? last;
  const spoken = series.map(({ name, values }) => `${format(values[current] ?? 0)} ${name}`.trimEnd());
  const press = (event: KeyboardEvent): void => {
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      onShow((index) => move(index ?? last, last));
    }
  };
  const point = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onShow(Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * days.length))));
  };
  return (
    <figure className="chart">
      <figcaption>
        <h3 id={id}>{title}</h3>
        <span className="hint">{shown === undefined ? `${days.length} days` : formatDay(days[shown] ?? "")}</span>
        <Values series={series} shown={shown} format={format} />
      </figcaption>
      <div className="chart-ticks" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick}>{formatTick(tick)}</span>
        ))}
      </div>
      <div
        className="chart-plot"
        role="slider"
        tabIndex={0}
        aria-labelledby={id}
        aria-orientation="horizontal"
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={current + 1}
        aria-valuetext={`${formatDay(days[current] ?? "")}: ${spoken.join(", ")}`}
        onKeyDown={press}
        onFocus={() => onShow((index) => index ?? last)}
        onBlur={() => onShow(undefined)}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={({ currentTarget, pointerType }) => {
          // A finger leaves before the focus comes.
          if (pointerType === "mouse" && !currentTarget.matches(":focus")) {
            onShow(undefined);
          }
        }}
      >
        <Plot days={days} series={series} ticks={ticks} shown={shown} />
      </div>
    </figure>
  );
}

/** The values of the chosen day, or their sums. The squares are the legend. */
function Values({
  series,
  shown,
  format,
}: {
  readonly series: readonly Series[];
  readonly shown: number | undefined;
  readonly format: (value: number) => string;
}) {
  return (
    <p className="chart-values">
      {series.map(({ name, values }, index) => (
        <span key={name} data-lower={index < series.length - 1 || undefined}>
          <b>{format(shown === undefined ? values.reduce(add, 0) : (values[shown] ?? 0))}</b> {name}
        </span>
      ))}
    </p>
  );
}

function Plot({
  days,
  series,
  ticks,
  shown,
}: {
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly ticks: readonly number[];
  readonly shown: number | undefined;
}) {
  const top = ticks.at(-1) || 1;
  const step = 100 / days.length;
  return (
    <svg aria-hidden="true" focusable="false">
      {shown !== undefined && <rect className="chart-day" x={`${shown * step}%`} width={`${step}%`} height="100%" />}
      {ticks.map((tick) => (
        <line key={tick} x2="100%" y1={`${100 - (tick / top) * 100}%`} y2={`${100 - (tick / top) * 100}%`} />
      ))}
      {days.map((day, index) => (
        <Bars
          key={day}
          heights={series.map(({ values }) => percentOf(values[index] ?? 0, top))}
          x={index * step}
          step={step}
        />
      ))}
      {labelsOf(days).map((index) => (
        <text key={index} x={`${(index + 0.5) * step}%`} y="100%" dy="1.3em" textAnchor="middle">
          {formatDay(days[index] ?? "").replace(/ \d+$/, "")}
        </text>
      ))}
    </svg>
  );
}

/** The bars of a day, each on top of the one before. */
function Bars({
  heights,
  x,
  step,
}: {
  readonly heights: readonly number[];
  readonly x: number;
  readonly step: number;
}) {
  return heights.map((height, index) => (
    <rect
      key={index}
      data-lower={index < heights.length - 1 || undefined}
      x={`${x + (step * (1 - barShare)) / 2}%`}
      y={`${100 - heights.slice(0, index + 1).reduce(add, 0)}%`}
      width={`${step * barShare}%`}
      height={`${height}%`}
    />
  ));
}

function percentOf(value: number, top: number): number {
  return value === 0 ? 0 : Math.max(barMinPercent, (value / top) * 100);
}

function heightOf(series: readonly Series[], index: number): number {
  return series.reduce((height, { values }) => height + (values[index] ?? 0), 0);
}

/** Returns numbers from 0 in even steps, of which the last is at least `max`. Example: 7 gives 0, 2, 4, 6, 8. */
function ticksOf(max: number): readonly number[] {
  const least = Math.max(1, max / intervalsMax);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5].map((factor) => factor * power).find((each) => each >= least) ?? 10 * power;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step);
}

/** Returns the indexes of the days that have a label; the last day has one. */
function labelsOf(days: readonly string[]): readonly number[] {
  const step = labelSteps[days.length] ?? days.length;
  return days.map((_, index) => index).filter((index) => (days.length - 1 - index) % step === 0);
}

function add(one: number, other: number): number {
  return one + other;
}
