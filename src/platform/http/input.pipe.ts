import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import { validateSync, type ValidationError } from 'class-validator';
import type { Request } from 'express';
import { ApiError, Errors, fieldError, type FieldProblem } from './errors.js';
import { instanceOf, ONLY_KNOWN, unknownMembersOf } from './body/instance.js';
import { bodyDocs, documentsInput } from './input-docs.js';
import { assertStorable } from './storable-text.js';

type Class<T> = new () => T;

const PRIMITIVES = new Set<unknown>([String, Number, Boolean, Array, Object, undefined]);

/**
 * Makes an instance of an input class out of a parsed body or query; unknown fields are dropped.
 * @throws ApiError 422 `validation_failed` with one entry in `details` for each invalid field
 */
export function validated<T extends object>(type: Class<T>, plain: unknown): T {
  const instance = instanceOf(type, jsonObject(plain));
  const errors = validateSync(instance, {
    whitelist: true,
    stopAtFirstError: true,
    forbidUnknownValues: false,
  });
  if (errors.length > 0)
    throw Errors.validationFailed.with({ details: errors.flatMap((error) => problems(error)) });
  useDefaults(type, instance);
  return instance;
}

/** The members of a parsed body, for handlers without an input class. @throws ApiError 422 for any other value */
export function jsonObject(plain: unknown): Record<string, unknown> {
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw fieldError('', 'is_object', 'The body must be a JSON object.');
  return plain as Record<string, unknown>;
}

const withDefaults = new WeakMap<object, string[]>();

/** Replaces null by the default in fields with a default that accept null: null and a missing field mean the same. */
function useDefaults<T extends object>(type: Class<T>, instance: T): void {
  let names = withDefaults.get(type);
  if (!names) {
    names = Object.entries(new type()).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    withDefaults.set(type, names);
  }
  const values = instance as Record<string, unknown>;
  for (const name of names)
    if (values[name] === null) values[name] = (new type() as Record<string, unknown>)[name];
}

function problems(error: ValidationError, parent = ''): FieldProblem[] {
  const field = parent ? `${parent}.${error.property}` : error.property;
  const own = Object.entries(error.constraints ?? {}).flatMap(([rule, message]) =>
    rule === ONLY_KNOWN ? unknownFields(field, error.value) : [{ field, code: snake(rule), message }],
  );
  return [...own, ...(error.children ?? []).flatMap((child) => problems(child, field))];
}

const unknownFields = (parent: string, value: unknown): FieldProblem[] =>
  unknownMembersOf(value).map((name) => ({
    field: `${parent}.${name}`,
    code: 'unknown_field',
    message: `${parent} has no field of this name`,
  }));

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Global: validates `@Query()` and `@Body()` parameters whose type is an input class. */
@Injectable()
export class InputPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if ((type !== 'query' && type !== 'body') || PRIMITIVES.has(metatype)) return value;
    if (type === 'query') assertStorable(value);
    return validated(metatype as Class<object>, type === 'query' ? { ...(value as object) } : value);
  }
}

/**
 * A validated body whose error is not thrown yet: the contract orders "not found", "forbidden" and "deleted" before errors
 * of the body, and only the service knows those (adr/0003).
 */
export class Checked<T> {
  private constructor(
    private readonly input: T | undefined,
    readonly error: ApiError | undefined,
    private readonly plain?: unknown,
  ) {}

  static of<T extends object>(type: Class<T>, plain: unknown): Checked<T> {
    try {
      return new Checked<T>(validated(type, plain), undefined, plain);
    } catch (error) {
      if (error instanceof ApiError) return new Checked<T>(undefined, error, plain);
      throw error;
    }
  }

  /** A value that has been validated before. */
  static valid<T>(value: T): Checked<T> {
    return new Checked<T>(value, undefined);
  }

  /** A text field that decides about access, such as a token; also of an invalid body. Undefined means that it is missing, or no text. */
  text(name: keyof T & string): string | undefined {
    const { plain } = this;
    const fields = typeof plain === 'object' && plain !== null ? (plain as Record<string, unknown>) : {};
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  }

  /**
   * A further check, or a change, of a valid body (look-ups, HTML cleaning). An `ApiError` that `step` throws is kept
   * like a validation error, so that "not found" still comes first.
   */
  async map<U>(step: (input: T) => Promise<U>): Promise<Checked<U>> {
    if (this.error) return new Checked<U>(undefined, this.error);
    try {
      return new Checked(await step(this.input as T), undefined);
    } catch (error) {
      if (error instanceof ApiError) return new Checked<U>(undefined, error);
      throw error;
    }
  }

  /** @throws ApiError 422 when the body is invalid */
  get value(): T {
    if (this.error) throw this.error;
    return this.input as T;
  }
}

const InjectCheckedBody = createParamDecorator((type: Class<object>, context: ExecutionContext) =>
  Checked.of(type, context.switchToHttp().getRequest<Request>().body),
);

/** The body as `Checked<T>`: for writes of existing objects. */
export const CheckedBody =
  (type: Class<object>): ParameterDecorator =>
  (target, key, index) => {
    InjectCheckedBody(type)(target, key, index);
    documentsInput(bodyDocs(type))(target, key, index);
  };
