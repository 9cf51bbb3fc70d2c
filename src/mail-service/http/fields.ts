import Joi from 'joi';
import { daysInMonth } from '../../lib/recurrence/index.js';
import { hasVisibleCharacter } from '../../lib/text/index.js';

/** Field types. Joi, as in WildDuck, so that the error messages are equal. */
export const fields = {
  id: () => Joi.string().hex().lowercase().length(24),
  /** WildDuck's spellings of a boolean; an empty value is ignored. */
  flag: () =>
    Joi.boolean().empty('').truthy('Y', 'true', 'yes', 'on', '1', 1).falsy('N', 'false', 'no', 'off', '0', 0),
  email: () => Joi.string().email({ tlds: false }).max(320),
  /** A message id: a number of at least 1. */
  uid: () => Joi.number().min(1).required(),
  /** Message ids: `1,2` or `3:15` or `3:*`. */
  uids: () =>
    Joi.string()
      .regex(/^\d+(,\d+)*$|^\d+:(\d+|\*)$/i)
      .required(),
  /** A time. `Date` would take the 30th of February for the 2nd of March. */
  time: () =>
    Joi.date().custom((time: Date, helpers) =>
      isExistingDay(helpers.original) ? time : helpers.error('date.base'),
    ),
  /** A path of a mailbox, in normalization form C, without control characters (RFC 8621 2, RFC 5198 2). Each part has a visible character. */
  path: () =>
    Joi.string()
      .normalize('NFC')
      .regex(/\/{2,}|\/$/, { invert: true })
      .regex(/[\p{Cc}\u2028\u2029]/u, { name: 'control characters', invert: true })
      .max(128 * 513)
      .custom((path: string, helpers) => {
        const parts = path.replace(/^\//, '').split('/');
        if (!parts.every(hasVisibleCharacter)) return helpers.error('string.empty');
        return parts.length > 128 || parts.some((part) => part.length > 512)
          ? helpers.error('string.max', { limit: 512 })
          : path;
      }),
  retention: () => Joi.number().min(0).max(Number.MAX_SAFE_INTEGER).integer(),
};

/** False for a text with a date that no calendar has. */
function isExistingDay(value: unknown): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(String(value)) ?? [];
  return year === undefined || Number(day) <= daysInMonth(Number(year), Number(month));
}

const traced = {
  sess: Joi.string().max(255).empty(''),
  ip: Joi.string()
    .ip({ version: ['ipv4', 'ipv6'], cidr: 'forbidden' })
    .empty(''),
};

/** A route under `/users/:user`. */
export function ofUser(keys: Joi.SchemaMap = {}): Joi.ObjectSchema {
  return Joi.object({ user: fields.id().required(), ...keys, ...traced });
}

/** A route under `/users/:user/mailboxes/:mailbox`. */
export function ofMailbox(keys: Joi.SchemaMap = {}): Joi.ObjectSchema {
  return ofUser({ mailbox: fields.id().required(), ...keys });
}

/** A route without a user in its path. */
export function ofService(keys: Joi.SchemaMap = {}): Joi.ObjectSchema {
  return Joi.object({ ...keys, ...traced });
}
