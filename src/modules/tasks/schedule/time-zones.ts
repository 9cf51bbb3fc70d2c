import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';

const SUPPORTED = new Set(Intl.supportedValuesOf('timeZone'));

const names = directory.statement<{ name: string }>(
  'tasks.time_zones',
  `SELECT name FROM pg_timezone_names WHERE name !~ '^(posix|right)/'`,
);

/** Spelling of time zone names: `europe/paris` is `Europe/Paris`. */
@Injectable()
export class TimeZones {
  private byLowerCase?: Map<string, string>;

  constructor(private readonly db: Db) {}

  /** The name as the IANA database spells it. An alias stays an alias; a name that PostgreSQL does not know stays as it is. */
  async canonical(name: string): Promise<string> {
    if (SUPPORTED.has(name) || name === 'UTC') return name;
    this.byLowerCase ??= new Map(
      (await this.db.query(names, [])).map((row) => [row.name.toLowerCase(), row.name]),
    );
    return this.byLowerCase.get(name.toLowerCase()) ?? name;
  }
}
