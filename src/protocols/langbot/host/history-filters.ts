// Parses the filters of a transcript search, as LangBot's clients write them: `{"roles": ["user"], "item_types": ["message"]}`.

import { invalidField } from "../../../platform/base/fault.ts";
import { type ObjectText, readObjectText, withArticle } from "../../../platform/base/json/object-text.ts";
import type { HistoryFilters } from "../storage/history-page.ts";

/** The filters of a search. */
export interface SearchFilters extends HistoryFilters {
  /** The conversation that the caller named; undefined means the run's own. */
  readonly conversationId: string | undefined;
}

const keys = ["conversation_id", "role", "roles", "item_types", "event_types"];
/** The maximum values of a filter: the same as in a page of events. */
const valuesMax = 64;

/**
 * Parses filters. Missing filters, `null` and an empty list exclude nothing. Throws Fault INVALID_ARGUMENT, which names the
 * filter.
 */
export function readSearchFilters(text: string | undefined): SearchFilters {
  if (text === undefined || text === "" || text === "null") {
    return { conversationId: undefined, roles: [], itemTypes: [], eventTypes: [] };
  }
  const filters = readObjectText(text, "filters");
  const unknown = filters.names.find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw invalidField(`filters.${unknown.slice(0, 64).toWellFormed()}`, `is unknown: use ${keys.join(", ")}`);
  }
  const role = filters.findText("role");
  const roles = readValues(filters, "roles");
  if (role !== undefined && roles.length > 0) {
    throw invalidField("filters.role", "is set together with roles: send only one of them");
  }
  return {
    conversationId: filters.findText("conversation_id"),
    roles: role === undefined ? roles : [role],
    itemTypes: readValues(filters, "item_types"),
    eventTypes: readValues(filters, "event_types"),
  };
}

function readValues(filters: ObjectText, key: string): string[] {
  const items = filters.findItems(key) ?? [];
  if (items.length > valuesMax) {
    throw invalidField(`filters.${key}`, `has ${items.length} values: give at most ${valuesMax}`);
  }
  return items.map((item, index) => {
    if (item.kind !== "string") {
      throw invalidField(`filters.${key}[${index}]`, `must be a string, not ${withArticle(item.kind)}`);
    }
    return item.value.toWellFormed();
  });
}
