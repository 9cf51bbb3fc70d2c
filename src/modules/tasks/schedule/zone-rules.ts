import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { canonicalZone, DAY, dayOf, Zone } from '../../../lib/recurrence/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';

/** Rules of one zone for some years, as the SQL function `task_offset` takes them; see adr/0065. */
interface YearsOfZone {
  from: number;
  to: number;
  /** Offsets in seconds, each valid from a wall time, or an instant, in seconds on. */
  walls: [number, number][];
  instants: [number, number][];
}

/** By the name of the zone. */
export type ZoneYears = Record<string, YearsOfZone>;

const MAX_USERS = 20_000;
/** A name that a task of an earlier release has and this runtime does not know is read as UTC. */
const UNKNOWN = 'UTC';

/** @param from first year. @param to last year */
export function zoneYears(name: string, from: number, to: number): YearsOfZone {
  const zone = Zone.of(canonicalZone(name) ?? UNKNOWN);
  const first = (dayOf(from, 1, 1) - 2) * DAY;
  const last = (dayOf(to + 1, 1, 1) + 2) * DAY;
  const walls: [number, number][] = [[first, zone.offsetAt(first)]];
  const instants: [number, number][] = [[first, zone.offsetAt(first)]];
  for (const { at, before, after } of zone.transitionsBetween(first, last)) {
    // A wall time in a gap, and the first of two equal ones, take the offset before the change.
    walls.push([at + Math.max(before, after), after]);
    instants.push([at, after]);
  }
  return { from, to, walls, instants };
}

/** The rules that a write of a task needs. */
interface NeededRules {
  zones: ZoneYears;
  /** Adds what the outcome `zone` names: `<year> <zone>`. */
  add: (needed: string) => void;
}

/**
 * Provides writes with rules of time zones. The zone of a stored task is known only after it is locked, so a write carries the zone that
 * the user needed last; if it is another one, the write changes nothing and is repeated with it.
 */
@Injectable()
export class TaskZones {
  private readonly lastZones = new LRUCache<string, string>({ max: MAX_USERS });

  for({ tenantId, userId }: RequestContext, patch: Record<string, unknown> | null): NeededRules {
    const user = `${tenantId} ${userId}`;
    const thisYear = new Date().getUTCFullYear();
    const named = [patch?.['date'], patch?.['due_at']].flatMap((value) =>
      typeof value === 'string' ? Number(value.slice(0, 4)) : [],
    );
    const from = Math.min(thisYear, ...named) - 1;
    const to = Math.max(thisYear, ...named) + 1;
    const span: [number, number] = to - from > 10 ? [thisYear - 1, thisYear + 1] : [from, to];
    const zones: ZoneYears = { UTC: { from: 0, to: 10_000, walls: [[-1e12, 0]], instants: [[-1e12, 0]] } };
    const given = typeof patch?.['time_zone'] === 'string' ? patch['time_zone'] : this.lastZones.get(user);
    if (given !== undefined && given !== 'UTC') zones[given] = zoneYears(given, ...span);
    const add = (needed: string): void => {
      const [year = '', name = ''] = needed.split(/ (.*)/);
      const known = zones[name];
      // Years that are far apart are not joined: the latest request is the one that is still missing.
      const near = known && Math.abs(Number(year) - known.from) < 50 ? known : undefined;
      const years = [Number(year) - 1, Number(year) + 1, ...(near ? [near.from, near.to] : span)];
      zones[name] = zoneYears(name, Math.min(...years), Math.max(...years));
      this.lastZones.set(user, name);
    };
    return { zones, add };
  }
}
