import { plainToInstance, Transform } from 'class-transformer';
import {
  buildMessage,
  IsString,
  isISO8601,
  Length,
  Matches,
  ValidateBy,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';
import { isUuid } from './id.pipe.js';

/** The field may be left out; `null` is not the same and is refused (class-validator's IsOptional lets it pass). */
export const MayBeAbsent = () => ValidateIf((_, value) => value !== undefined);

/** The field may be left out or `null`. */
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

/** A query parameter that may be repeated: always an array. */
export const Repeatable = () =>
  Transform(({ value }) => (value === undefined || Array.isArray(value) ? value : [value]));

/** Drops repetitions from an array of text, keeping the order. */
export const Distinct = () => Transform(({ value }) => (Array.isArray(value) ? [...new Set(value)] : value));

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 text becomes a Date; what is no such time, or no day of the calendar, stays for the validator to refuse. */
export const Timestamp = () =>
  Transform(({ value }) =>
    typeof value === 'string' && RFC3339.test(value) && isISO8601(value, { strict: true })
      ? new Date(value)
      : value,
  );

/** Decimal digits of a query parameter become a number; anything else stays for the validator to refuse. */
export const WholeNumber = () =>
  Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value));

/** Something to see: a name of spaces, or of marks that leave no trace, is none. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** No controls, no line ends, nothing that turns the direction of the text around it. */
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u;

/** A name that people see in lists: one line, not empty, spaces at its ends dropped. */
export const Name = (max: number): PropertyDecorator => {
  return (target, key) => {
    const field = String(key);
    Transform(({ value }) => (typeof value === 'string' ? value.trim() : value))(target, key);
    Matches(VISIBLE, { message: `${field} must not be empty` })(target, key);
    Matches(ONE_LINE, { message: `${field} must be one line without control characters` })(target, key);
    Length(1, max)(target, key);
    IsString()(target, key);
  };
};

/** One line that may be empty: a title, a telephone number. */
export const Line = (max: number): PropertyDecorator => {
  return (target, key) => {
    Transform(({ value }) => (typeof value === 'string' ? value.trim() : value))(target, key);
    Matches(ONE_LINE, { message: `${String(key)} must be one line without control characters` })(target, key);
    Length(0, max)(target, key);
    IsString()(target, key);
  };
};

/**
 * Makes nested input an instance, so that it is validated; what is no object stays for the validator to refuse. It would take
 * a list for its entries, and an empty one for nothing wrong: in the place of a list it finds what it refuses.
 */
export function asInstance(type: new () => object, plain: unknown): unknown {
  if (Array.isArray(plain)) return false;
  return typeof plain === 'object' && plain !== null ? plainToInstance(type, plain) : plain;
}

/** Somebody named by an object; a bare string is an id or an address. */
export function asPerson(type: new () => object, entry: unknown): unknown {
  const plain = typeof entry === 'string' ? { [isUuid(entry) ? 'id' : 'email']: entry } : entry;
  return asInstance(type, plain);
}

/** Makes something of each entry of a list; what is no list stays for the validator to refuse. */
export const EachAs = (make: (entry: unknown) => unknown) =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(make) : value));
