// Checks what clients send before it is stored: every text can be stored, and every free-form field is a JSON object.

import { type DescMessage, type Message, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { invalidField } from "../../../platform/base/fault.ts";
import { parseFreeObject } from "../../../platform/base/json/free.ts";
import { type JsonFieldShape, jsonShape } from "../../../platform/base/json/shape.ts";
import { JsonTextError } from "../../../platform/base/json/text.ts";
import { findTextForm } from "../../../platform/base/json/text-form.ts";
import { isStorableText } from "../../../platform/database/database.ts";

/** Throws Fault INVALID_ARGUMENT, which names the field. `path` is the path of the message in its request. */
export function assertStorable<S extends DescMessage>(schema: S, message: MessageShape<S>, path: string): void {
  assertFields(reflect(schema, message as Message & MessageShape<S>, false), path);
}

function assertFields(message: ReflectMessage, path: string): void {
  for (const shape of jsonShape(message.desc).fields) {
    const { field } = shape;
    if (message.isSet(field)) {
      const value = message.get(field);
      const fieldPath = `${path}.${field.name}`;
      if (field.fieldKind === "list") {
        [...(value as Iterable<unknown>)].forEach((item, index) => {
          assertValue(shape, item, `${fieldPath}[${index}]`);
        });
      } else {
        assertValue(shape, value, fieldPath);
      }
    }
  }
}

function assertValue({ field, raw }: JsonFieldShape, value: unknown, path: string): void {
  if (field.message !== undefined) {
    if (findTextForm(field.message) === undefined) {
      assertFields(value as ReflectMessage, path);
    }
  } else if (raw) {
    assertObject(value as string, path);
  } else if (field.scalar === ScalarType.STRING && !isStorableText(value as string)) {
    throw invalidField(path, "must not contain the character U+0000");
  }
}

function assertObject(text: string, path: string): void {
  try {
    parseFreeObject(text);
  } catch (error) {
    throw error instanceof JsonTextError ? invalidField(path, `must be a JSON object: ${error.message}`) : error;
  }
}
