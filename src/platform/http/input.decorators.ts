import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  buildMessage,
  IsArray,
  IsBoolean,
  IsDate,
  IsDefined,
  isEmail,
  IsEmail,
  IsIn,
  IsInt,
  isISO8601,
  IsOptional,
  IsString,
  IsUrl,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { charactersOf, hasVisibleCharacter, inOneForm, mailAddress } from '../../lib/text/index.js';
import { instanceOf } from './body/instance.js';
import { isUuid } from './id.pipe.js';

/** Documentation of a field in addition to its decorator and type. `message` replaces the message of the validator. */
type FieldOptions = ApiPropertyOptions & { message?: string };

/**
 * Documents and validates a field. Only the error of the first violated rule is reported.
 * @param rules gets the options of the validator that reports `message`
 */
function field(
  base: object,
  { message, ...docs }: FieldOptions,
  rules: (own?: ValidationOptions) => PropertyDecorator[],
): PropertyDecorator {
  return applyDecorators(ApiProperty({ ...base, ...docs }), ...rules(message ? { message } : undefined));
}

/** The field is optional; `null` is invalid (class-validator's IsOptional accepts it). */
export const Optional = () =>
  field({ required: false }, {}, () => [ValidateIf((_, value) => value !== undefined)]);

/** The field is optional or `null`. */
export const Nullable = () => ValidateIf((_, value) => value !== undefined && value !== null);

/** Text of at most this many bytes in UTF-8. */
export const MaxBytes = (max: number, options?: ValidationOptions) =>
  ValidateBy(
    {
      name: 'maxBytes',
      constraints: [max],
      validator: {
        validate: (value) =>
          typeof value === 'string' && (value.length * 3 <= max || Buffer.byteLength(value) <= max),
        defaultMessage: buildMessage(
          (each) => `${each}$property must be at most $constraint1 bytes long`,
          options,
        ),
      },
    },
    options,
  );

/** true or false. */
export const Flag = (options: FieldOptions = {}) => field({}, options, (own) => [IsBoolean(own)]);

/** One of these values. */
export const OneOf = (values: readonly unknown[], options: FieldOptions = {}) =>
  field({ enum: [...values] }, options, (own) => [IsIn([...values], own)]);

/** Text of at most `max` characters; of at least `minLength` in the options. */
export const Text = (max: number, options: FieldOptions & { minLength?: number } = {}) => {
  const { minLength } = options;
  const length = minLength === undefined ? MaxLength(max) : Length(minLength, max);
  return field({ maxLength: max }, options, (own) => [IsString(own), length]);
};

/** A whole number. `message` also replaces the messages about its limits. */
export const IntegerFrom = (min: number, max?: number | FieldOptions, options: FieldOptions = {}) => {
  const [maximum, docs] = typeof max === 'object' ? [undefined, max] : [max, options];
  return field({ type: 'integer', minimum: min, maximum }, docs, (own) => [
    IsInt(own),
    Min(min, own),
    ...(maximum === undefined ? [] : [Max(maximum, own)]),
  ]);
};

/** A UUID of any version. */
export const Uuid = (options: FieldOptions = {}) =>
  field({ format: 'uuid' }, options, (own) => [IsUUID('all', own)]);

/** A time, RFC 3339, as a Date. */
export const Time = (options: FieldOptions = {}) =>
  field({ type: String, format: 'date-time' }, options, (own) => [
    IsDate({ ...own, message: '$property must be an RFC 3339 time such as 2026-11-21T09:30:00Z' }),
    Timestamp(),
  ]);

/** An object of a class. */
export const Nested = (type: new () => object, options: FieldOptions = {}) =>
  field({ type }, options, (own) => [
    Transform(({ value }) => asInstance(type, value)),
    ValidateNested(own),
    IsDefined(own), // `ValidateNested` accepts a missing object.
  ]);

/** A list of at most `max` objects of a class; of at least `minItems` in the options. */
export const Entries = (
  type: new () => object,
  max: number,
  options: FieldOptions & { minItems?: number } = {},
) =>
  field({ type: [type], maxItems: max }, options, (own) => [
    IsArray(),
    ...(options.minItems === undefined ? [] : [ArrayMinSize(options.minItems)]),
    ArrayMaxSize(max),
    EachAs((entry) => asInstance(type, entry), max),
    ValidateNested({ each: true, ...own }),
  ]);

/** A query parameter that may be repeated: always an array. */
export const Repeatable = () =>
  Transform(({ value }) => (value === undefined || Array.isArray(value) ? value : [value]));

/** An optional query parameter that may be repeated, each time with one of these values. */
export const EachOf = (values: readonly unknown[]) =>
  field({ enum: [...values], isArray: true, required: false }, {}, () => [
    IsOptional(),
    Repeatable(),
    IsArray(),
    IsIn([...values], { each: true }),
  ]);

/** Removes repetitions from an array of text and keeps the order. */
export const Distinct = () => Transform(({ value }) => (Array.isArray(value) ? [...new Set(value)] : value));

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * Converts RFC 3339 text into a Date. Other values, days that do not exist, and times in the year 10000, which RFC 3339
 * does not have, stay unchanged: the validator rejects them.
 */
export const Timestamp = () =>
  Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string' || !RFC3339.test(value)) return value;
    // RFC 3339 also has `t` and `z` (5.6), ISO 8601 does not.
    const text = value.toUpperCase();
    if (!isISO8601(text, { strict: true })) return value;
    const time = new Date(text);
    return time.getUTCFullYear() <= 9999 ? time : value;
  });

/** A time from 1900 to `lastYear`, by default 9998, RFC 3339, as a Date. */
export const Moment = ({ lastYear = 9998, ...docs }: FieldOptions & { lastYear?: 9998 | 9999 } = {}) =>
  field({ type: String, format: 'date-time' }, docs, () => [
    Timestamp(),
    ValidateBy({
      name: 'isTimestamp',
      validator: {
        validate: (value) =>
          value instanceof Date && value.getUTCFullYear() >= 1900 && value.getUTCFullYear() <= lastYear,
        defaultMessage: () => '$property must be a time, RFC 3339',
      },
    }),
  ]);

/** Converts decimal digits of a query parameter into a number. Other values stay unchanged: the validator rejects them. */
export const WholeNumber = () =>
  Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value));

/** It has no control characters, line ends or characters that change the direction of the surrounding text. */
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u;

/** Whether text is a name for lists, as `Name` requires after trimming. @param max characters */
export const isName = (text: string, max: number): boolean =>
  charactersOf(text) <= max && hasVisibleCharacter(text) && ONE_LINE.test(text);

const visible = (accepts: (text: string) => boolean, message: string, options?: ValidationOptions) =>
  ValidateBy(
    {
      name: 'matches',
      validator: {
        validate: (value) => typeof value === 'string' && accepts(value),
        defaultMessage: buildMessage((each) => each + message, options),
      },
    },
    options,
  );

const VISIBLE = '$property must have a visible character';

/** Text with a visible character. Its code in `details` is that of a pattern. */
export const Visible = (message = VISIBLE): PropertyDecorator => visible(hasVisibleCharacter, message);

/** A name that may be missing: empty text, or text with a visible character. */
export const VisibleOrEmpty = (): PropertyDecorator =>
  visible((text) => text === '' || hasVisibleCharacter(text), `${VISIBLE} or be empty`);

/** A label, or a list of labels, in their one form. Other values stay unchanged: the validator rejects them. */
export const AsLabels = () => Transform(({ value }: { value: unknown }) => inOneForm(value));

/** A list of at most `maxItems` labels, each of at most `max` characters and once. */
export const Labels = (maxItems: number, max: number, docs: ApiPropertyOptions = {}): PropertyDecorator =>
  applyDecorators(
    AsLabels(),
    ApiProperty({ type: [String], maxItems, ...docs }),
    IsArray(),
    ArrayMaxSize(maxItems),
    IsString({ each: true }),
    Length(1, max, { each: true }),
    visible(hasVisibleCharacter, VISIBLE, { each: true }),
  );

/** A name for lists: one line, not empty, trimmed. */
export const Name = (max: number, docs?: ApiPropertyOptions): PropertyDecorator => {
  return (target, key) => {
    const name = String(key);
    if (docs) ApiProperty({ minLength: 1, maxLength: max, ...docs })(target, key);
    Transform(({ value }) => (typeof value === 'string' ? value.trim() : value))(target, key);
    Visible(`${name} must not be empty`)(target, key);
    Matches(ONE_LINE, { message: `${name} must be one line without control characters` })(target, key);
    Length(1, max)(target, key);
    IsString()(target, key);
  };
};

/** One line, trimmed, that may be empty, with a visible character otherwise: a job title, a telephone number. */
export const Line = (max: number, docs?: ApiPropertyOptions): PropertyDecorator => {
  return (target, key) => {
    if (docs) ApiProperty({ maxLength: max, ...docs })(target, key);
    Transform(({ value }) => (typeof value === 'string' ? value.trim() : value))(target, key);
    VisibleOrEmpty()(target, key);
    Matches(ONE_LINE, { message: `${String(key)} must be one line without control characters` })(target, key);
    Length(0, max)(target, key);
    IsString()(target, key);
  };
};

const EMAIL_OPTIONS = { allow_utf8_local_part: true, require_tld: false };
/** Maximum number of characters of an e-mail address. */
export const MAX_EMAIL = 320;

/** Whether text is one e-mail address of at most 320 characters. Domains without a dot are allowed, for internal servers. */
export const isEmailAddress = (text: string): boolean =>
  text.length <= MAX_EMAIL && isEmail(text, EMAIL_OPTIONS);

/** An e-mail address as users paste it. Other values stay unchanged: the validator rejects them. */
export const PastedAddress = () =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? mailAddress(value) : value));

/** An e-mail address of at most 320 characters. */
export const EmailAddress = (): PropertyDecorator => (target, key) => {
  IsEmail(EMAIL_OPTIONS, { message: `${String(key)} must be an e-mail address` })(target, key);
  MaxLength(MAX_EMAIL)(target, key);
  PastedAddress()(target, key);
  ApiProperty({ format: 'email', maxLength: MAX_EMAIL })(target, key);
};

/** An http or https address of at most 2,048 characters. */
export const HttpUrl = (): PropertyDecorator => (target, key) => {
  MaxLength(2048)(target, key);
  IsUrl({
    protocols: ['http', 'https'],
    require_protocol: true,
    require_tld: false,
    allow_underscores: true,
  })(target, key);
  IsString()(target, key);
};

/**
 * Makes nested input an instance, so that it is validated. Other values stay unchanged: the validator rejects them. A list becomes
 * `false`, because the validator would check its entries and accept an empty list.
 */
export function asInstance(type: new () => object, plain: unknown): unknown {
  if (Array.isArray(plain)) return false;
  return typeof plain === 'object' && plain !== null ? instanceOf(type, plain) : plain;
}

/** A user named by an object; a bare string is an id or an address. */
export function asNamedUser(type: new () => object, entry: unknown): unknown {
  const plain = typeof entry === 'string' ? { [isUuid(entry) ? 'id' : 'email']: entry } : entry;
  return asInstance(type, plain);
}

/**
 * Converts each entry of a list. Other values stay unchanged: the validator rejects them.
 * @param max of `@ArrayMaxSize()`, which rejects a longer list; its further entries are not converted
 */
export const EachAs = (make: (entry: unknown) => unknown, max = Infinity) =>
  Transform(({ value }: { value: unknown }) =>
    Array.isArray(value) ? value.slice(0, max + 1).map(make) : value,
  );
