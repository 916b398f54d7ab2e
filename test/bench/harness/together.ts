// Closes things at the same time, because each close only waits: a service drains for a second.

export class Together implements AsyncDisposable {
  readonly #all: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(one: T): T {
    this.#all.push(one);
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = await Promise.allSettled(this.#all.map((one) => one[Symbol.asyncDispose]()));
    const errors = closed.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    if (errors.length > 0) {
      throw new AggregateError(errors, "some of what a bench started could not be ended");
    }
  }
}
