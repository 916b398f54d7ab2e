// A binding with everything needed to serve it, compiled from descriptors at startup. A method that cannot be served fails
// then.

import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import {
  other_success_statuses,
  type RestProfile,
  success_status,
  Validation,
  validation,
} from "#gen/runnel/options/v1/options_pb.js";
import type { ErrorForm } from "../../platform/base/error-form.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Feed } from "../../platform/base/feed.ts";
import { compileBodyShapes } from "../../platform/base/json/shape.ts";
import type { LocalMethod, LocalMethods } from "../../platform/base/local-methods.ts";
import { type ErrorStyle, errorStyleOf } from "./errors.ts";
import { compileEventReader, type EventReader } from "./event.ts";
import { findHttpBodyPlace, type HttpBodyPlace } from "./http-body.ts";
import { profileOf } from "./profile.ts";
import type { Route } from "./route.ts";
import { type Binding, compileBindings } from "./rule.ts";
import { type SharedText, shareText } from "./sse-source.ts";

/** A binding that is ready to serve. */
export interface Target extends Binding {
  readonly handler: LocalMethod;
  readonly profile: RestProfile;
  readonly errorStyle: ErrorStyle;
  /** True when the handler reports an invalid body, after other checks. */
  readonly leavesInputFaults: boolean;
  /** The place of a raw request body. Undefined when the body is JSON or empty. */
  readonly requestBytes: HttpBodyPlace | undefined;
  /** The place of a raw answer body, or of its pieces. Undefined when the answer is JSON or a stream of events. */
  readonly responseBytes: HttpBodyPlace | undefined;
  readonly successStatuses: SuccessStatuses;
  /** Set for a stream of events: reads them. */
  readonly events: EventReader | undefined;
  /** Set for a stream whose readers share encoded text. */
  readonly feed: SharedText | undefined;
}

/** The HTTP statuses of a method's success. */
export interface SuccessStatuses {
  /** The status when the handler chooses none. */
  readonly usual: number;
  readonly allowed: ReadonlySet<number>;
}

/** What the targets of all services share. */
export interface TargetOptions {
  /** The methods of all services. */
  readonly methods: LocalMethods;
  /** Feeds for streams of these services, which are faster than the handlers. */
  readonly feeds?: readonly Feed[];
  /** The error bodies of protocols. */
  readonly errorForms?: readonly ErrorForm[];
}

/**
 * Compiles the routes of a service. Throws Fault CONFIG_INVALID for an invalid rule, a message without a JSON form, or a
 * missing handler.
 */
export function compileRoutes(service: DescService, options: TargetOptions): Route<Target>[] {
  return service.methods.flatMap((method) => {
    const bindings = compileBindings(method);
    return bindings.map((binding) => {
      const { httpMethod, template } = binding;
      return { httpMethod, template, target: compileTarget(binding, options) };
    });
  });
}

function compileTarget(binding: Binding, { methods, feeds = [], errorForms = [] }: TargetOptions): Target {
  const { method } = binding;
  const profile = profileOf(method);
  const answer = compileAnswer(binding);
  const feed = feeds.find((candidate) => candidate.method === method);
  const handler = methods.get(method);
  if (handler === undefined) {
    throw invalid(method, "has a REST route but no handler");
  }
  return {
    ...binding,
    handler,
    profile,
    errorStyle: errorStyleOf(profile, errorForms),
    leavesInputFaults: getOption(method, validation) === Validation.HANDLER,
    requestBytes: compileRequest(binding),
    ...answer,
    feed: feed && answer.events && shareText(feed, answer.events),
  };
}

function compileRequest({ method, body }: Binding): HttpBodyPlace | undefined {
  if (body.kind === "none") {
    return undefined;
  }
  const field = body.kind === "field" ? body.field : undefined;
  const place = findHttpBodyPlace(method.input, field);
  if (place === undefined) {
    compileBodyShapes(method.input, field);
  }
  return place;
}

function compileAnswer({
  method,
  responseField,
}: Binding): Pick<Target, "responseBytes" | "successStatuses" | "events"> {
  const place = findHttpBodyPlace(method.output, responseField);
  if (method.methodKind === "server_streaming") {
    if (place !== undefined) {
      return { responseBytes: place, successStatuses: ok, events: undefined };
    }
    compileBodyShapes(method.output, undefined);
    return { responseBytes: undefined, successStatuses: ok, events: compileEventReader(method) };
  }
  if (place === undefined) {
    compileBodyShapes(method.output, responseField);
  }
  return { responseBytes: place, successStatuses: readSuccessStatuses(method), events: undefined };
}

const ok: SuccessStatuses = { usual: 200, allowed: new Set([200]) };

function readSuccessStatuses(method: DescMethod): SuccessStatuses {
  const usual = getOption(method, success_status) || ok.usual;
  const allowed = new Set([usual, ...getOption(method, other_success_statuses)]);
  for (const status of allowed) {
    if (status < 200 || status > 299) {
      throw invalid(method, `declares ${status}, which is not a success status`);
    }
  }
  return { usual, allowed };
}

function invalid(method: DescMethod, problem: string): Fault {
  return new Fault("CONFIG_INVALID", `${method.parent.typeName}.${method.name} ${problem}`);
}
