import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { getMetadataStorage } from 'class-validator';
import { type ErrorKind, Errors } from './errors.js';

/** Errors of an operation that reads a JSON body. */
export const BODY_ERRORS = [Errors.invalidJson, Errors.bodyTooLarge, Errors.unsupportedMediaType];

const INPUTS = 'workspace:inputs';

/** The documentation of an operation that follows from one parameter of its handler. */
interface InputDocs {
  errors: readonly ErrorKind[];
  /** Class of the JSON body. */
  body?: Type;
  /** Documents a header. */
  header?: MethodDecorator;
}

/** A query class that has further errors than `validation_failed`. */
interface QueryClass extends Type {
  readonly documentedErrors?: readonly ErrorKind[];
}

/** Parameter decorators call it: it adds to the documentation of the operation that takes the parameter. */
export const documentsInput =
  (docs: InputDocs): ParameterDecorator =>
  (target, key) => {
    Reflect.defineMetadata(INPUTS, [docs, ...recorded(target, key as string)], target, key as string);
  };

/** The documentation that follows from the parameters of a handler, including Nest's `@Body()` and `@Query()`. */
export function inputDocsOf(target: object, key: string | symbol): InputDocs[] {
  const types = (Reflect.getMetadata('design:paramtypes', target, key) ?? []) as unknown[];
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, key) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const own = Object.entries(parameters).flatMap(([name, { index, data }]): InputDocs[] => {
    const type = types[index] as QueryClass;
    if (data !== undefined || !isInputClass(type)) return [];
    const [kind] = name.split(':');
    if (kind === String(RouteParamtypes.BODY)) return [bodyDocs(type)];
    if (kind === String(RouteParamtypes.QUERY))
      return [{ errors: [Errors.validationFailed, ...(type.documentedErrors ?? [])] }];
    return [];
  });
  return [...recorded(target, key), ...own];
}

/** Documentation of a JSON body of this class. */
export const bodyDocs = (type: Type): InputDocs => ({
  errors: [Errors.validationFailed, ...BODY_ERRORS],
  body: type,
});

const recorded = (target: object, key: string | symbol): InputDocs[] =>
  (Reflect.getMetadata(INPUTS, target, key) ?? []) as InputDocs[];

const isInputClass = (type: unknown): boolean =>
  typeof type === 'function' && !([String, Number, Boolean, Array, Object] as unknown[]).includes(type);

type Storage = ReturnType<typeof getMetadataStorage>;
type Lookup = Storage['getTargetValidationMetadatas'];
type Metadata = ReturnType<Lookup>;

let isCached = false;

/**
 * Keeps the rules of each input class. class-validator 0.15 collects them again for every object that it validates, by a
 * walk over all decorated classes of the application: 9 % of the processor time of a read with 900 classes, and more with each
 * new domain. Decorators run when their module is loaded, before the first instance exists, so the rules never change. The applications
 * of a process share the cache.
 */
export function cacheValidationMetadata(): void {
  if (isCached) return;
  isCached = true;
  const storage = getMetadataStorage();
  const collect: Lookup = storage.getTargetValidationMetadatas.bind(storage);
  const group: Storage['groupByPropertyName'] = storage.groupByPropertyName.bind(storage);
  const rules = new WeakMap<object, Metadata>();
  const groups = new WeakMap<Metadata, ReturnType<typeof group>>();
  const cached: Lookup = (target, schema, always, strictGroups, only) => {
    // A client may send a field `constructor` of any type.
    if (typeof target !== 'function' || always || strictGroups || only)
      return collect(target, schema, always, strictGroups, only);
    return entry(rules, target, () => collect(target, schema, always, strictGroups, only));
  };
  storage.getTargetValidationMetadatas = cached;
  storage.groupByPropertyName = (metadata) => entry(groups, metadata, () => group(metadata));
}

function entry<K extends object, V>(cache: WeakMap<K, V>, key: K, make: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
