import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { ErrorKind } from './api-error.js';
import { Errors } from './errors.js';

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

/** For parameter decorators: adds to the documentation of the operation that takes the parameter. */
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
