import type { ValidationError } from 'class-validator';

/** Invalid settings, one line for each. The process exits with code 78 (EX_CONFIG of sysexits.h). */
export class ConfigError extends Error {
  static readonly exitCode = 78;

  constructor(readonly lines: string[]) {
    super(lines.join('\n'));
    this.name = 'ConfigError';
  }
}

const SECRET = /TOKEN$|SECRET|KEY|DATABASE_URL|SMTP_URL/;

/** The error of a setting on one line, without the value of a secret. */
export function lineOf({ property, constraints = {}, value }: ValidationError): string {
  // An address may contain a password.
  const shown = SECRET.test(property)
    ? '(a secret, not shown)'
    : JSON.stringify(value).replace(/\/\/.*@/, '//');
  return `${property} ${Object.values(constraints)[0]}, not ${shown}`;
}
