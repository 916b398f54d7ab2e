// The fields of a request, with the errors of OpenAI's API.

import { RequestFields } from "../in-process/request-fields.ts";
import { invalid, unsupported } from "./errors.ts";

/** The fields of one JSON object, at a path of the request. Its methods throw an ApiError for a field of another kind. */
export class Fields extends RequestFields<Fields> {
  protected override open(value: unknown, path: string): Fields {
    return new Fields(value, path);
  }

  protected override invalid(path: string, problem: string): Error {
    return invalid(path, problem);
  }

  protected override unsupported(path: string): Error {
    return unsupported(path);
  }
}
