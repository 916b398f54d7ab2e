// The comments of the contract, as descriptions.

import type { DescEnum, DescEnumValue, DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { comments } from "#gen/comments.js";

type Commented = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

/** Returns the comment of a part of the contract; undefined when it says nothing, as `Request of SendMessage.` does. */
export function commentOf(desc: Commented): string | undefined {
  const comment = comments.get("typeName" in desc ? desc.typeName : `${desc.parent.typeName}.${desc.name}`);
  return comment !== undefined && /^(?:Request|Response) of \w+\.$/.test(comment) ? undefined : comment;
}

/** Joins the comment and further sentences to one description; an empty object without any. */
export function describe(desc: Commented | undefined, sentences: readonly string[] = []): { description?: string } {
  const comment = desc === undefined ? undefined : commentOf(desc);
  const all = [...(comment === undefined ? [] : [comment]), ...sentences];
  return all.length > 0 ? { description: all.join(" ") } : {};
}
