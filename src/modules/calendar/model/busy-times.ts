import { Turns } from '../../../lib/turns/index.js';
import { responseAt } from './event-policy.js';
import type { AttendeeResponse, EventContent, EventRow, ParticipantRow, ShowAs } from './event-record.js';
import { isSeries, type Occurrence, type SeriesRecord, type TimeWindow } from './event-series.js';
import { type Step, stepsOf } from './event-steps.js';

export const BUSY_TYPES = ['working_elsewhere', 'tentative', 'busy', 'out_of_office'] as const;
/** A later type takes precedence over an earlier one. */
export type BusyType = (typeof BUSY_TYPES)[number];

/** A time at which a person is not free; instants in seconds, half-open. */
export interface BusyTime {
  start: number;
  end: number;
  type: BusyType;
}

/** An event in a calendar, reduced to the columns that decide when its owner is busy. */
export interface BusyEvent extends SeriesRecord, Pick<EventRow, 'status' | 'show_as'> {
  /** Setting of the placement; null: as in the event. */
  own_show_as: ShowAs | null;
  /** Responses of the owner of the calendar; empty for an owner who is no attendee. */
  responses: Pick<ParticipantRow, 'recurrence_key' | 'response' | 'uninvited'>[];
}

/** The state of the owner in an instance; null: the instance occupies no time. */
export function busyTypeAt(
  event: BusyEvent,
  { key, override }: Pick<Occurrence, 'key' | 'override'>,
): BusyType | null {
  const { status = event.status, show_as: showAs = event.show_as } = override?.patch ?? {};
  const own = responseAt(event.responses, key);
  const isInvited = event.responses.length === 0 || (own !== undefined && !own.uninvited);
  return isInvited ? typeOf({ status, show_as: event.own_show_as ?? showAs }, own?.response) : null;
}

function typeOf(
  { status, show_as: shown }: Pick<EventContent, 'status' | 'show_as'>,
  response: AttendeeResponse | undefined,
): BusyType | null {
  if (status === 'cancelled' || shown === 'free') return null;
  if (response === 'declined' || response === 'delegated') return null;
  if (shown === 'out_of_office' || shown === 'working_elsewhere') return shown;
  const isOpen = response === 'needs_action' || response === 'tentative';
  return isOpen || status === 'tentative' || shown === 'tentative' ? 'tentative' : 'busy';
}

const rank = (type: BusyType): number => BUSY_TYPES.indexOf(type);

/** Times without overlaps, in order: where several overlap, the one with the highest precedence; equal neighbours are one. */
export function mergeTimes(times: readonly BusyTime[]): BusyTime[] {
  const edges = times
    .flatMap(({ start, end, type }) => [
      { at: start, rank: rank(type), change: 1 },
      { at: end, rank: rank(type), change: -1 },
    ])
    .toSorted((a, b) => a.at - b.at);
  const open = BUSY_TYPES.map(() => 0);
  const found: BusyTime[] = [];
  for (const [n, edge] of edges.entries()) {
    open[edge.rank] = (open[edge.rank] as number) + edge.change;
    const next = edges[n + 1]?.at ?? edge.at;
    const type = BUSY_TYPES[open.findLastIndex((count) => count > 0)];
    if (next === edge.at || type === undefined) continue;
    const last = found.at(-1);
    if (last && last.end === edge.at && last.type === type) last.end = next;
    else found.push({ start: edge.at, end: next, type });
  }
  return found;
}

const VIEW: Record<BusyType, string> = {
  tentative: '1',
  busy: '2',
  out_of_office: '3',
  working_elsewhere: '4',
};

/** One digit for each slot: 0 free, 1 tentative, 2 busy, 3 out of office, 4 working elsewhere. */
export function viewOf(times: readonly BusyTime[], from: number, to: number, slot: number): string {
  let view = '';
  let at = 0;
  for (let start = from; start < to; start += slot) {
    while (at < times.length && (times[at] as BusyTime).end <= start) at += 1;
    let type: BusyType | null = null;
    for (let n = at; n < times.length && (times[n] as BusyTime).start < start + slot; n += 1) {
      const other = (times[n] as BusyTime).type;
      if (type === null || rank(other) > rank(type)) type = other;
    }
    view += type === null ? '0' : VIEW[type];
  }
  return view;
}

/**
 * The instances of all events of a query that are expanded: those of 100 members with six meetings a day for 62 days. It also bounds
 * the length of the response.
 */
export const BUSY_BUDGET = 40_000;

/** An event with the instants in seconds between which all its instances are, and the zone of its floating times and days. */
export interface BusySource extends BusyEvent {
  spanStart: number;
  spanEnd: number;
  zone: string;
}

/** The busy times of a calendar or a member in a window. */
export interface BusyResult {
  busy: BusyTime[];
  /** Series exceeded the budget: the rest of each of them, from its first unknown instance to its last one, is one busy time. */
  isApproximate: boolean;
}

interface Expansion {
  event: BusySource;
  /** The times of its calendar or member. */
  times: BusyTime[];
  window: TimeWindow;
  steps: Iterator<Step, void>;
  /** Instances that start before this instant are known. */
  until: number;
}

/**
 * Expands the events of a query within one budget, and merges their times: the state with the highest precedence covers the others.
 * Cancelled, free and declined events occupy no time; an event without a response is tentative.
 *
 * Each calendar or member has an equal share of the budget; what some do not use, others do. Within a share the steps of the events
 * alternate. So the series of one member do not make the times of others approximate, and events with few instances are complete
 * before a dense series has used up the share.
 */
export class BusyExpansion {
  private readonly subjects: { times: BusyTime[]; queue: Expansion[] }[] = [];

  /** @param budget instances */
  constructor(
    private readonly turns = new Turns(),
    private readonly budget = BUSY_BUDGET,
  ) {}

  /** Adds a calendar or a member. @param known further times */
  add(
    events: readonly BusySource[],
    { from, to }: Omit<TimeWindow, 'readerZone'>,
    known: readonly BusyTime[] = [],
  ): void {
    const times = [...known];
    const queue = events.filter(mayOccupy).map((event) => {
      const window = { from, to, readerZone: event.zone };
      return { event, times, window, steps: stepsOf(event, window), until: event.spanStart };
    });
    this.subjects.push({ times, queue });
  }

  /** @returns a result for each `add`, in their order */
  async run(): Promise<BusyResult[]> {
    const share = this.budget / this.subjects.length;
    let rest = 0;
    for (const subject of this.subjects) {
      const left = await this.expand(subject.queue, share);
      subject.queue = left.unfinished;
      rest += left.budget;
    }
    for (const subject of this.subjects) {
      const left = await this.expand(subject.queue, rest);
      subject.queue = left.unfinished;
      rest = left.budget;
    }
    const results: BusyResult[] = [];
    for (const { times, queue } of this.subjects) {
      const isApproximate = queue.filter((expansion) => this.cover(expansion)).length > 0;
      results.push({ busy: mergeTimes(times), isApproximate });
      await this.turns.pause();
    }
    return results;
  }

  /** Expands events in alternating steps until they are complete or the budget is used up. Single events are always complete. */
  private async expand(
    queue: readonly Expansion[],
    budget: number,
  ): Promise<{ unfinished: Expansion[]; budget: number }> {
    let open = [...queue];
    let left = budget;
    do {
      const unfinished: Expansion[] = [];
      for (const expansion of open) {
        const cost = left > 0 || !isSeries(expansion.event) ? this.step(expansion) : 0;
        left -= cost;
        if (expansion.until < expansion.window.to) unfinished.push(expansion);
        await this.turns.pause();
      }
      open = unfinished;
    } while (open.length > 0 && left > 0);
    return { unfinished: open, budget: Math.max(0, left) };
  }

  /** @returns the cost of the step */
  private step(expansion: Expansion): number {
    const { event, times, window, steps } = expansion;
    const { value: step } = steps.next();
    expansion.until = step?.until ?? Number.POSITIVE_INFINITY;
    for (const occurrence of step?.found ?? []) {
      const type = busyTypeAt(event, occurrence);
      const start = Math.max(occurrence.start, window.from);
      const end = Math.min(occurrence.end, window.to);
      if (type && end > start) times.push({ start, end, type });
    }
    return step?.cost ?? 0;
  }

  /** Covers the rest of an event with one busy time. @returns false if the event has no time left in the window */
  private cover({ event, times, window, until }: Expansion): boolean {
    const start = Math.max(until, window.from);
    const end = Math.min(event.spanEnd, window.to);
    const type = busyTypeAt(event, { key: null, override: null }) ?? 'tentative';
    if (end > start) times.push({ start, end, type });
    return end > start;
  }
}

/** False for an event that is free as a whole. An instance may differ from its series. */
function mayOccupy(event: BusyEvent): boolean {
  const isUniform =
    event.overrides.length === 0 && event.responses.every(({ recurrence_key }) => recurrence_key === '');
  return (isSeries(event) && !isUniform) || busyTypeAt(event, { key: null, override: null }) !== null;
}
