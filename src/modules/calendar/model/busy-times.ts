import type { AttendeeResponse, EventContent, EventRow, ParticipantRow, ShowAs } from './event-record.js';
import { responseAt } from './event-policy.js';
import type { Occurrence, SeriesRecord } from './event-series.js';

export const BUSY_TYPES = ['working_elsewhere', 'tentative', 'busy', 'out_of_office'] as const;
/** In ascending precedence. */
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
export function merged(times: readonly BusyTime[]): BusyTime[] {
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
