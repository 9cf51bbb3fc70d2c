import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';

const TRUE = new Set(['true', '1', 'yes', 'on']);
const FALSE = new Set(['false', '0', 'no', 'off']);

/** Environment text to number; anything that is not a plain decimal stays as it is, for the validator to name. */
const ToInt = () =>
  Transform(({ value }) =>
    typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value,
  );

/** Environment text to boolean; anything that is no word for one stays as it is. */
export const ToBoolean = () =>
  Transform(({ value }) => {
    const word = String(value).trim().toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : value;
  });

/** A whole number within bounds. */
export const Whole = (min: number, max: number): PropertyDecorator => {
  const message = `must be a whole number from ${min} to ${max}`;
  return (target, key) => {
    ToInt()(target, key);
    IsInt({ message })(target, key);
    Min(min, { message })(target, key);
    Max(max, { message })(target, key);
  };
};

/** A URL of one of the schemes, or nothing. */
export const Url = (...schemes: string[]): PropertyDecorator => {
  const message = `must be a URL beginning with ${schemes.map((s) => `${s}://`).join(' or ')}`;
  return (target, key) => {
    IsOptional()(target, key);
    Matches(new RegExp(`^(?:${schemes.join('|')})://\\S+$`), { message })(target, key);
  };
};

/** Any text, or nothing. */
export const Text = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  IsString()(target, key);
};
