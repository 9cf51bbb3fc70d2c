import { isDeepStrictEqual } from 'node:util';
import type { EventContent, EventRecord, EventTimes, ProposalRow } from '../model/event-record.js';
import { contentOf, occurrenceOf } from '../model/event-series.js';
import { instantOf, wallOf } from '../model/event-times.js';
import { sameTimes } from './event-change.js';

/** Whether a change may move or remove instances. */
export const mayMove = (before: EventRecord, after: EventRecord): boolean =>
  before.overrides !== after.overrides ||
  !sameTimes(before, after) ||
  (['rules', 'added', 'excluded'] as const).some((field) => !isDeepStrictEqual(before[field], after[field]));

/**
 * The pending proposals that a change of an event closes: those about another time than before, and about an instance that no longer
 * exists. They are `accepted` if they propose the new time, else `outdated`.
 */
export function closedProposals(
  proposals: readonly ProposalRow[],
  before: EventRecord,
  after: EventRecord,
): ProposalRow[] {
  const hasSameRules = isDeepStrictEqual(before.rules, after.rules);
  return proposals.flatMap((proposal) => {
    const { recurrence_key: key, status } = proposal;
    const [current, next] = [contentAt(before, key), contentAt(after, key)];
    const isUnchanged = current && next && sameTimes(current, next) && (key !== '' || hasSameRules);
    if (status !== 'pending' || isUnchanged) return [];
    const isAccepted = next !== null && isDeepStrictEqual(instantsOf(proposal), instantsOf(next));
    return [{ ...proposal, status: isAccepted ? 'accepted' : 'outdated' }];
  });
}

/** The content of an event, or of an instance; null without such an instance. @param key empty: the event */
function contentAt(record: EventRecord, key: string): EventContent | null {
  if (key === '') return record;
  const occurrence = occurrenceOf(record, key, 'UTC');
  return occurrence && contentOf(record, occurrence);
}

const instantsOf = ({ starts, ends, time_zone: zone, end_time_zone: endZone }: EventTimes): number[] => [
  instantOf(wallOf(starts), zone),
  instantOf(wallOf(ends), endZone ?? zone),
];
