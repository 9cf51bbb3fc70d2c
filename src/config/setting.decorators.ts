import { isIP } from 'node:net';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsNumber, IsOptional, IsString, Matches, Max, Min, ValidateBy } from 'class-validator';
import { isValidDatabaseUrl } from './store-urls.js';

const TRUE = new Set(['true', '1', 'yes', 'on']);
const FALSE = new Set(['false', '0', 'no', 'off']);

/** Converts decimal text to a number. The validator reports other text. */
const ToInt = () =>
  Transform(({ value }) =>
    typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value,
  );

/** Converts text to a boolean. The validator reports unknown words. */
export const ToBoolean = () =>
  Transform(({ value }) => {
    const word = String(value).trim().toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : value;
  });

/** An integer from `min` to `max`. */
export const Whole = (min: number, max: number): PropertyDecorator => {
  const message = `must be a whole number from ${min} to ${max}`;
  return (target, key) => {
    ToInt()(target, key);
    IsInt({ message })(target, key);
    Min(min, { message })(target, key);
    Max(max, { message })(target, key);
  };
};

/** A decimal number from 0 to 1. */
export const Share = (): PropertyDecorator => {
  const message = 'must be a number from 0 to 1';
  return (target, key) => {
    Transform(({ value }) =>
      typeof value === 'string' && /^\d*\.?\d+$/.test(value.trim()) ? Number(value) : value,
    )(target, key);
    IsNumber({}, { message })(target, key);
    Min(0, { message })(target, key);
    Max(1, { message })(target, key);
  };
};

/** An optional URL with one of the schemes. */
export const Url = (...schemes: string[]): PropertyDecorator => {
  const begins = new RegExp(`^(?:${schemes.join('|')})://\\S+$`);
  const validate = (value: string): boolean => !begins.test(value) || isValidDatabaseUrl(value);
  return (target, key) => {
    IsOptional()(target, key);
    Matches(begins, {
      message: `must be a URL beginning with ${schemes.map((s) => `${s}://`).join(' or ')}`,
    })(target, key);
    ValidateBy(
      { name: 'isParsable', validator: { validate } },
      {
        message:
          'must be a valid URL, with special characters of user and password encoded, such as %23 for #',
      },
    )(target, key);
  };
};

/** Optional text. */
export const Text = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  IsString()(target, key);
};

/** One of several words. */
export const OneOf = (words: readonly string[]): PropertyDecorator =>
  IsIn(words, { message: `must be one of ${words.join(', ')}` });

/** Optional: `*` or a comma-separated list of origins. */
export const Origins = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  Matches(/^(?:\*|https?:\/\/[^\s,/]+(?:\s*,\s*https?:\/\/[^\s,/]+)*)?$/, {
    message: 'must be * or a comma-separated list of origins such as https://app.example.com',
  })(target, key);
};

/** A value for `trust proxy` of Express. */
export const Proxies = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isProxies', validator: { validate: isProxies } },
    { message: 'must be false, loopback, a number of hops or a comma-separated list of addresses' },
  );

const isProxies = (value: unknown): boolean =>
  typeof value === 'string' &&
  (/^(?:false|loopback|\d{1,2})$/.test(value) || value.split(',').every((entry) => isNetwork(entry.trim())));

/** An IP address, optionally with the number of bits of its network or, for IPv4, with a mask. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (bits === undefined || (version === 4 && isIP(bits) === 4)) return true;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

/** The entries of a comma-separated list. */
export const entries = (list = ''): string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
