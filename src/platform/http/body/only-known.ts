import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { declaresField } from './instance.js';

export const ONLY_KNOWN = 'onlyKnown';
/** Unknown members that an error names. */
const MAX_NAMED = 20;

/** Names of the members that an instance was made without. */
const unknownMembers = new WeakMap<object, string[]>();

/** The members of its plain value that no field of an instance declares. Only of fields with `OnlyKnown`. */
export const unknownMembersOf = (instance: unknown): string[] =>
  (typeof instance === 'object' && instance !== null && unknownMembers.get(instance)) || [];

/**
 * Rejects unknown members of a nested object, which are dropped otherwise: where a misspelt member would widen what the object restricts.
 * Written after `@Nested(type)`. The error has an entry for each unknown member.
 */
export const OnlyKnown = (type: new () => object): PropertyDecorator =>
  applyDecorators(
    Transform(({ value, obj, key }: { value: unknown; obj: Record<string, unknown>; key: string }) => {
      if (value instanceof type) {
        const names = Object.keys(obj[key] as object).filter((name) => !declaresField(type, name));
        if (names.length > 0) unknownMembers.set(value, names.slice(0, MAX_NAMED));
      }
      return value;
    }),
    ValidateBy({
      name: ONLY_KNOWN,
      validator: { validate: (value) => unknownMembersOf(value).length === 0 },
    }),
  );
