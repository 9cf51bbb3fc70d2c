import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Transform, TransformationType, type TransformFnParams } from 'class-transformer';
import transformStorage from 'class-transformer/cjs/storage.js';
import { ARRAY_MAX_SIZE, getMetadataStorage, ValidateBy } from 'class-validator';

// The decorators' metadata: class-transformer exports no function that reads them. @nestjs/mapped-types imports the same file.

type Class<T = object> = new () => T;

/** How the value of one field becomes that of the instance. */
interface Field {
  /** The class of `@Type()`. */
  type: (() => Class) | undefined;
  /** The functions of `@Transform()`, in their order. */
  transforms: ((params: TransformFnParams) => unknown)[];
  /** The limit of `@ArrayMaxSize()`, which rejects a longer list; its further entries get no instances of `type`. */
  maxItems: number;
}

type ValidationMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

const OPTIONS = { exposeUnsetFields: false };
const NATIVE = new Set<unknown>([String, Number, Boolean, Date, Buffer]);

const fieldsByClass = new WeakMap<Class, Map<string, Field>>();

/**
 * Makes an instance of an input class out of plain values, with `@Type()` and `@Transform()` of class-transformer. Fields that no
 * rule of class-validator declares are dropped.
 *
 * `plainToInstance` of class-transformer 0.5.1 compares each key of an object with all others, at every level, also of values
 * that have no class: 5,000 keys hold the event loop for 55 ms, and the time grows with their square. It copies a value as often
 * as the value has parents. This function visits declared fields only, once, and keeps values without a class as they are.
 */
export function instanceOf<T extends object>(type: Class<T>, plain: object): T {
  const fields = fieldsOf(type);
  const instance = new type();
  const values = instance as Record<string, unknown>;
  for (const key of Object.keys(plain)) {
    const field = fields.get(key);
    if (!field) continue;
    const value = valueOf(field, key, plain as Record<string, unknown>);
    if (value !== undefined) values[key] = value;
  }
  return instance;
}

/** Whether a rule of an input class declares the field. */
export const declaresField = (type: Class, name: string): boolean => fieldsOf(type).has(name);

function valueOf(field: Field, key: string, obj: Record<string, unknown>): unknown {
  const { type, transforms, maxItems } = field;
  let value = obj[key];
  if (type) value = typed(type(), Array.isArray(value) ? value.slice(0, maxItems + 1) : value);
  for (const transform of transforms)
    value = transform({ value, key, obj, type: TransformationType.PLAIN_TO_CLASS, options: OPTIONS });
  return value;
}

function typed(type: Class, value: unknown): unknown {
  if (NATIVE.has(type)) return plainToInstance(type, value, OPTIONS);
  if (Array.isArray(value)) return value.map((entry) => typed(type, entry));
  return typeof value === 'object' && value !== null ? instanceOf(type, value) : value;
}

/** Decorators run when their module is loaded, before the first instance exists, so the fields never change. */
function fieldsOf(type: Class): Map<string, Field> {
  let fields = fieldsByClass.get(type);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    const byName = Map.groupBy(rules, ({ propertyName }) => propertyName);
    fields = new Map([...byName].map(([name, own]) => [name, fieldOf(type, name, own)]));
    fieldsByClass.set(type, fields);
  }
  return fields;
}

function fieldOf(type: Class, name: string, rules: ValidationMetadata[]): Field {
  const { defaultMetadataStorage: storage } = transformStorage;
  const declared = storage.findTypeMetadata(type, name);
  const longest = rules.find((rule) => rule.name === ARRAY_MAX_SIZE);
  return {
    maxItems: (longest?.constraints[0] as number | undefined) ?? Infinity,
    type: declared && (() => declared.typeFunction() as Class),
    transforms: storage
      .findTransformMetadatas(type, name, TransformationType.PLAIN_TO_CLASS)
      .map(({ transformFn }) => transformFn),
  };
}

export const ONLY_KNOWN = 'onlyKnown';
/** Unknown members that an error names. */
const MAX_NAMED = 20;

/** Names of the members that an instance was made without. */
const unknownMembers = new WeakMap<object, string[]>();

/** The members of its plain value that no field of an instance declares. Only fields with `OnlyKnown` record them. */
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
