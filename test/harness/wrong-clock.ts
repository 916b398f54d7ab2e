// Loaded into a process before its program: sets its wall clock wrong by the minutes in the URL of this file. For the program
// this is a machine whose clock was never set.

const minutes = Number(new URL(import.meta.url).searchParams.get("minutes"));
if (!Number.isInteger(minutes) || minutes === 0) {
  throw new Error(`${import.meta.url}: say how wrong the clock is, as ?minutes=5 or ?minutes=-10`);
}
const wrongMs = minutes * 60_000;
const RightDate = Date;

function now(): number {
  return RightDate.now() + wrongMs;
}

globalThis.Date = new Proxy(RightDate, {
  construct: (target, values, made) => Reflect.construct(target, values.length === 0 ? [now()] : values, made),
  apply: () => new RightDate(now()).toString(),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
RightDate.prototype.constructor = Date;
Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + wrongMs });
