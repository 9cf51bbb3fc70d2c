import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';

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

/** An optional URL with one of the schemes. */
export const Url = (...schemes: string[]): PropertyDecorator => {
  const message = `must be a URL beginning with ${schemes.map((s) => `${s}://`).join(' or ')}`;
  return (target, key) => {
    IsOptional()(target, key);
    Matches(new RegExp(`^(?:${schemes.join('|')})://\\S+$`), { message })(target, key);
  };
};

/** Optional text. */
export const Text = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  IsString()(target, key);
};
