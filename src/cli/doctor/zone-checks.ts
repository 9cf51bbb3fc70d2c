import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { IANA_NAMES, Zone } from '../../lib/recurrence/index.js';
import { Area, type Finding } from './finding.js';

const area = new Area('time zones');
/** The first line is `# version 2026c`. */
const SYSTEM_DATA = '/usr/share/zoneinfo/tzdata.zi';
/** Differences that the message names. */
const MAX_NAMED = 10;
/** Months of this year and the next that are compared. */
const MONTHS = 24;

/** Compares the rules of time zones of Node, which all computations use (adr/0065), with those of PostgreSQL and of the system. */
export async function checkZones(client: pg.Client, nodeVersion = process.versions.tz): Promise<Finding> {
  const year = new Date().getUTCFullYear();
  const instants = Array.from({ length: MONTHS }, (_, month) => Date.UTC(year, month, 15) / 1000);
  const { rows } = await client.query<{ name: string; offsets: number[] }>(
    `SELECT zone.name, array_agg(
              extract(epoch FROM (to_timestamp(at) AT TIME ZONE zone.name) - (to_timestamp(at) AT TIME ZONE 'UTC'))::int ORDER BY at) AS offsets
       FROM pg_timezone_names zone CROSS JOIN unnest($2::float8[]) AS at
      WHERE zone.name = ANY ($1) GROUP BY zone.name ORDER BY zone.name`,
    [IANA_NAMES, instants],
  );
  const different = rows.filter(({ name, offsets }) => {
    const zone = Zone.of(name);
    return instants.some((at, n) => zone.measure(at) !== offsets[n]);
  });
  const system = await systemVersion();
  const names = different.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = different.length > MAX_NAMED ? ` and ${different.length - MAX_NAMED} more` : '';
  const message = [
    `All computations use the rules of Node, version ${nodeVersion}; the system has ${system ?? 'none or an unknown version'}.`,
    different.length === 0
      ? 'PostgreSQL has the same rules.'
      : `PostgreSQL has other rules for ${names.join(', ')}${more}.`,
  ].join(' ');
  return system !== null && nodeVersion !== undefined && system > nodeVersion
    ? area.warning(message, 'Update Node: the system has newer rules.')
    : area.ok(message);
}

async function systemVersion(): Promise<string | null> {
  try {
    return /^# version (\w+)/.exec(await readFile(SYSTEM_DATA, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}
