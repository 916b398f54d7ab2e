// The fields of a request, with the errors of Anthropic's API.

import { RequestFields } from "../in-process/request-fields.ts";
import { readJsonBody, type Visit } from "../in-process/visit.ts";
import { ApiError, invalid } from "./errors.ts";

/** The fields of one JSON object, at a path of the request. Its methods throw an ApiError for a field of another kind. */
export class Fields extends RequestFields<Fields> {
  protected override open(value: unknown, path: string): Fields {
    return new Fields(value, path);
  }

  protected override invalid(path: string, problem: string): Error {
    return invalid(path, problem);
  }

  protected override unsupported(path: string): Error {
    return new ApiError(400, `${path}: is not supported: leave it out`);
  }
}

/** Reads the body as a JSON object. */
export function readFields(visit: Visit): Fields {
  return new Fields(readJsonBody(visit));
}
