import { access } from 'node:fs/promises';

/** Another server uses this data directory. The message is one line for the operator. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string) {
    super(`Another workspace server is already running on ${dataDir}.`);
    this.name = 'DataDirInUseError';
  }
}

/** The embedded database cannot run here. The message is one line with the remedy. */
export class EmbeddedDatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedDatabaseError';
  }
}

/** The `code` of a system or PostgreSQL error, or an empty string. */
export function codeOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : '';
}

/** Whether a file or folder exists. */
export const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const REASONS: [codes: string[], text: string][] = [
  [['EACCES', 'EPERM'], 'this user has no permission for it'],
  [['ENOTDIR', 'EEXIST'], 'something that is not a directory is in the way'],
  [['EROFS'], 'the file system is read-only'],
  [['ENOSPC', 'EDQUOT'], 'the disk is full'],
  [['ENAMETOOLONG'], 'the path is too long'],
];

/** Turns a file system error about `dir` into a line for the operator. */
export function unusableDirectory(dir: string, cause: unknown): EmbeddedDatabaseError {
  const code = codeOf(cause);
  const reason = REASONS.find(([codes]) => codes.includes(code))?.[1] ?? String(cause);
  return new EmbeddedDatabaseError(`Cannot keep the database in ${dir}: ${reason}.`, { cause });
}

/** Turns the output of a failed `postgres` or `initdb` into a line for the operator. */
export function failedProgram(program: string, output: string, dataDir: string): EmbeddedDatabaseError {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new EmbeddedDatabaseError(`Cannot keep the database in ${dataDir}: the disk is full.`);
  }
  const missing = /error while loading shared libraries: (\S+):/.exec(output)?.[1];
  if (missing) {
    return new EmbeddedDatabaseError(
      `The embedded PostgreSQL does not run on this system: the library ${missing} is missing. ` +
        'Install it, or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  return new EmbeddedDatabaseError(`${program} failed: ${lastError(output)}`);
}

function lastError(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const error = lines.findLast((line) => /\b(?:PANIC|FATAL|error):/.test(line)) ?? lines.at(-1);
  return error?.replace(/^.*?(?=\b(?:PANIC|FATAL):)/, '').trim() ?? 'it printed nothing';
}
