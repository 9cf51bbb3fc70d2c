import { DAY } from '../../../lib/recurrence/index.js';
import { instantOf, isDay, parseInstant, wallIn, wallOf, wallText } from '../model/event-times.js';
import type { BusyTime } from '../model/busy-times.js';
import { bestOptions, type OptionRow, type PollRecord, statusOf } from './poll-record.js';
import type { PollOptionResponse, PollResponse } from './polls.dto.js';

/** The viewer of a poll. */
export interface PollViewer {
  userId: string;
  /** Zone of local times. */
  zone: string;
  busy: readonly BusyTime[];
}

/** The instants of an option; a day begins and ends in the given zone. */
export function instantsOf({ starts, ends }: OptionRow, zone: string): { start: number; end: number } {
  if (isDay(starts))
    return { start: instantOf(wallOf(starts), zone), end: instantOf(wallOf(ends) + DAY, zone) };
  return { start: parseInstant(starts) as number, end: parseInstant(ends) as number };
}

export function pollResponse(poll: PollRecord, viewer: PollViewer): PollResponse {
  const me = poll.participants.find(({ user_id }) => user_id === viewer.userId);
  const { options: _options, participants, votes, ...row } = poll;
  return {
    ...row,
    deadline: poll.deadline && time(poll.deadline),
    cancelled_at: poll.cancelled_at && time(poll.cancelled_at),
    created_at: time(poll.created_at),
    updated_at: time(poll.updated_at),
    status: statusOf(poll),
    options: poll.options.map((option) => optionResponse(poll, option, viewer)),
    participants: participants.map(({ responded_at: responded, ...participant }) => ({
      id: participant.id,
      email: participant.email,
      name: participant.name,
      user_id: participant.user_id,
      required: participant.required,
      comment: poll.anonymous ? '' : participant.comment,
      responded_at: responded && time(responded),
    })),
    my_votes: votes
      .filter(({ participant_id: id }) => id === me?.id)
      .map(({ option_id, answer }) => ({ option_id, answer })),
    best_option_ids: bestOptions(poll),
  };
}

function optionResponse(
  poll: PollRecord,
  option: OptionRow,
  { userId, zone, busy }: PollViewer,
): PollOptionResponse {
  const votes = poll.votes.filter(({ option_id: id }) => id === option.id);
  const count = (answer: string): number => votes.filter((vote) => vote.answer === answer).length;
  const isDate = isDay(option.starts);
  const { start, end } = instantsOf(option, zone);
  const names = new Map(poll.participants.map(({ id, name, email }) => [id, name || email]));
  return {
    id: option.id,
    hold_event_id: poll.owner_id === userId ? option.hold_event_id : null,
    start: isDate ? null : option.starts,
    end: isDate ? null : option.ends,
    date: isDate ? option.starts : null,
    local_start: isDate ? option.starts : wallText(wallIn(zone, start), false),
    local_end: isDate ? option.ends : wallText(wallIn(zone, end), false),
    counts: {
      yes: count('yes'),
      if_needed: count('if_needed'),
      no: count('no'),
      pending: poll.participants.length - votes.length,
    },
    votes: poll.anonymous
      ? []
      : votes.map(({ participant_id: id, answer }) => ({
          participant_id: id,
          name: names.get(id) ?? '',
          answer,
        })),
    my_conflict: busy.findLast((each) => each.start < end && each.end > start)?.type ?? null,
  };
}

const time = (text: string): string => new Date(text).toISOString();
