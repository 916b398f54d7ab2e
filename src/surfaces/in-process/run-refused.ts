// Why a run is not started or continued.

/** A request that the surface answers with RUN_ERROR: the client's run fails, and the HTTP call succeeds. */
export class RunRefused extends Error {
  override readonly name = "RunRefused";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
