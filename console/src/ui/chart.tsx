// Numbers over time: bars or lines on an axis from 0, with the exact values of the chosen period or of all. A drag chooses a span.

import { type Dispatch, type KeyboardEvent, type PointerEvent, type SetStateAction, useId, useState } from "react";

export interface Series {
  /** Empty when the title says it all. */
  readonly name: string;
  /** Undefined where nothing was measured. */
  readonly values: readonly (number | undefined)[];
  /** The value of the whole span, where it is not the sum. */
  readonly whole?: number | undefined;
}

/** A period of the axis. */
export interface Period {
  /** Example: `21 Nov 2026, 14:05`. */
  readonly name: string;
  /** What the axis shows, where it has room. */
  readonly tick: string;
}

/** The number of intervals of an axis. */
const intervalsMax = 4;
/** A bar that is not 0 can be seen. */
const barMinPercent = 1;
const barShare = 0.72;
/** The number of labels below the axis that have room. */
const labelsMax = 4;

const moves: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => Math.max(0, index - 1),
  ArrowRight: (index, last) => Math.min(last, index + 1),
  Home: () => 0,
  End: (_index, last) => last,
};

export function Chart({
  title,
  periods,
  span,
  series,
  isLines = false,
  format,
  formatTick,
  shown,
  onShow,
  onOpen,
  onZoom,
}: {
  readonly title: string;
  readonly periods: readonly Period[];
  /** Names all periods together. */
  readonly span: string;
  /** Bars stand on each other, from the axis upwards. */
  readonly series: readonly Series[];
  readonly isLines?: boolean;
  readonly format: (value: number) => string;
  readonly formatTick: (value: number) => string;
  /** The index of the period whose values are shown. */
  readonly shown: number | undefined;
  readonly onShow: Dispatch<SetStateAction<number | undefined>>;
  /** Called with a period that was clicked, or chosen with Enter. */
  readonly onOpen?: ((index: number) => void) | undefined;
  /** Called with the first and the last period of a drag, or of the arrow keys with Shift and then Enter. */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
}) {
  const id = useId();
  const [anchor, setAnchor] = useState<number | undefined>(undefined);
  const last = periods.length - 1;
  const ticks = ticksOf(Math.max(...periods.map((_, index) => (isLines ? highest : heightOf)(series, index))));
  const current = shown ?? last;
  const name = periods[current]?.name ?? "";
  const spoken = series.map(({ name: of, values }) => `${show(values[current], format)} ${of}`.trimEnd());
  const choose = (from: number, to: number): void => {
    setAnchor(undefined);
    if (from === to) {
      onOpen?.(to);
    } else {
      onZoom?.(Math.min(from, to), Math.max(from, to));
    }
  };
  const press = (event: KeyboardEvent): void => {
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      setAnchor(onZoom !== undefined && event.shiftKey ? (anchor ?? current) : undefined);
      onShow((index) => move(index ?? last, last));
    } else if (event.key === "Enter" && onOpen !== undefined) {
      event.preventDefault();
      // Not the row of a list that the same key would open.
      event.stopPropagation();
      choose(anchor ?? current, current);
    }
  };
  const indexAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * periods.length)));
  };
  const point = (event: PointerEvent): void => onShow(indexAt(event));
  return (
    <figure className="chart">
      <figcaption>
        <h3 id={id}>{title}</h3>
        <span className="hint">{shown === undefined ? span : (periods[shown]?.name ?? "")}</span>
        <Values series={series} isLines={isLines} shown={shown} format={format} />
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
        aria-valuemax={periods.length}
        aria-valuenow={current + 1}
        aria-valuetext={`${name}: ${spoken.join(", ")}`}
        data-opens={onOpen !== undefined || undefined}
        onKeyDown={press}
        onFocus={() => onShow((index) => index ?? last)}
        onBlur={() => onShow(undefined)}
        onPointerMove={point}
        onPointerDown={(event) => {
          point(event);
          if (event.button === 0) {
            // The newest period is at the edge: a drag may end behind it.
            event.currentTarget.setPointerCapture(event.pointerId);
            setAnchor(onOpen && indexAt(event));
          }
        }}
        onPointerUp={(event) => {
          if (anchor !== undefined) {
            choose(anchor, indexAt(event));
          }
        }}
        onPointerLeave={({ currentTarget, pointerType }) => {
          setAnchor(undefined);
          // A finger leaves before the focus comes.
          if (pointerType === "mouse" && !currentTarget.matches(":focus")) {
            onShow(undefined);
          }
        }}
      >
        <Plot periods={periods} series={series} isLines={isLines} ticks={ticks} shown={shown} anchor={anchor} />
      </div>
    </figure>
  );
}

/** The values of the chosen period, or of all. The signs are the legend. */
function Values({
  series,
  isLines,
  shown,
  format,
}: {
  readonly series: readonly Series[];
  readonly isLines: boolean;
  readonly shown: number | undefined;
  readonly format: (value: number) => string;
}) {
  return (
    <p className="chart-values" data-lines={isLines || undefined}>
      {series.map(({ name, values, whole }, index) => (
        <span key={name} data-series={index} data-lower={index < series.length - 1 || undefined}>
          <b>{show(shown === undefined ? (whole ?? sumOf(values)) : values[shown], format)}</b> {name}
        </span>
      ))}
    </p>
  );
}

/** Returns undefined where nothing was measured that would add something. */
function sumOf(values: readonly (number | undefined)[]): number | undefined {
  const sum = values.reduce<number>(add, 0);
  return sum === 0 && values.includes(undefined) ? undefined : sum;
}

function show(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? "–" : format(value);
}

function Plot({
  periods,
  series,
  isLines,
  ticks,
  shown,
  anchor,
}: {
  readonly periods: readonly Period[];
  readonly series: readonly Series[];
  readonly isLines: boolean;
  readonly ticks: readonly number[];
  readonly shown: number | undefined;
  readonly anchor: number | undefined;
}) {
  const top = ticks.at(-1) || 1;
  const step = 100 / periods.length;
  const [from, to] = [Math.min(anchor ?? shown ?? 0, shown ?? 0), Math.max(anchor ?? shown ?? 0, shown ?? 0)];
  return (
    <svg aria-hidden="true" focusable="false">
      {shown !== undefined && (
        <rect className="chart-day" x={`${from * step}%`} width={`${(to - from + 1) * step}%`} height="100%" />
      )}
      {ticks.map((tick) => (
        <line key={tick} x2="100%" y1={`${100 - (tick / top) * 100}%`} y2={`${100 - (tick / top) * 100}%`} />
      ))}
      {isLines ? (
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          {series.map(({ name, values }, index) => (
            <path key={name} data-series={index} vectorEffect="non-scaling-stroke" d={pathOf(values, step, top)} />
          ))}
        </svg>
      ) : (
        periods.map((period, index) => (
          <Bars
            key={period.name}
            heights={series.map(({ values }) => percentOf(values[index] ?? 0, top))}
            x={index * step}
            step={step}
          />
        ))
      )}
      {labelsOf(periods.length).map((index) => (
        <text key={index} x={`${(index + 0.5) * step}%`} y="100%" dy="1.3em" textAnchor="middle">
          {periods[index]?.tick}
        </text>
      ))}
    </svg>
  );
}

/** Returns a line with gaps where nothing was measured. A lone value is a short line. */
function pathOf(values: readonly (number | undefined)[], step: number, top: number): string {
  return values
    .map((value, index) => {
      if (value === undefined) {
        return "";
      }
      const height = 100 - (value / top) * 100;
      return values[index - 1] === undefined
        ? `M${index * step} ${height}H${(index + 0.5) * step}`
        : `L${(index + 0.5) * step} ${height}`;
    })
    .join("");
}

/** The bars of a period, each on top of the one before. */
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

/** Returns the indexes of the periods that have a label; the last one has one. */
function labelsOf(count: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / labelsMax));
  return Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % step === 0);
}

function highest(series: readonly Series[], index: number): number {
  return Math.max(0, ...series.map(({ values }) => values[index] ?? 0));
}

function add(one: number, other: number | undefined): number {
  return one + (other ?? 0);
}
