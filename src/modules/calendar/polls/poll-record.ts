import type { Poll, PollOption, PollParticipant, PollVote } from '../calendar.schema.js';

export const ANSWERS = ['yes', 'if_needed', 'no'] as const;
export type Answer = (typeof ANSWERS)[number];

// Rows as PostgreSQL writes them as JSON.

export interface PollRow extends Pick<
  Poll,
  | 'id'
  | 'owner_id'
  | 'calendar_id'
  | 'title'
  | 'description'
  | 'location'
  | 'time_zone'
  | 'kind'
  | 'allow_if_needed'
  | 'anonymous'
  | 'option_id'
  | 'event_id'
  | 'revision'
> {
  deadline: string | null;
  cancelled_at: string | null;
  created_at: string;
  updated_at: string;
}

export type OptionRow = Omit<PollOption, 'tenant_id' | 'poll_id'>;

export interface VoterRow extends Omit<PollParticipant, 'tenant_id' | 'poll_id' | 'responded_at'> {
  responded_at: string | null;
}

export interface VoteRow extends Pick<PollVote, 'option_id' | 'participant_id'> {
  answer: Answer;
}

/** A poll with all its parts. */
export interface PollRecord extends PollRow {
  options: OptionRow[];
  participants: VoterRow[];
  votes: VoteRow[];
}

/** A participant of a poll from outside of the workspace. */
export interface OutsideVoter {
  tenantId: string;
  pollId: string;
  participantId: string;
}

export type PollStatus = 'open' | 'closed' | 'finalized' | 'cancelled';

/** A poll closes at its deadline. */
export function statusOf(
  { option_id: chosen, cancelled_at: cancelled, deadline }: PollRow,
  now = Date.now(),
): PollStatus {
  if (chosen !== null) return 'finalized';
  if (cancelled !== null) return 'cancelled';
  return deadline !== null && Date.parse(deadline) <= now ? 'closed' : 'open';
}

/** The options that the most participants can attend; of these, the ones with the most unconditional votes. There is none without votes. */
export function bestOptions({ options, votes }: PollRecord): string[] {
  const scores = options.map(({ id }) => {
    const own = votes.filter((vote) => vote.option_id === id);
    const yes = own.filter(({ answer }) => answer === 'yes').length;
    const possible = own.filter(({ answer }) => answer !== 'no').length;
    return { id, score: possible * 1_000 + yes };
  });
  const best = Math.max(...scores.map(({ score }) => score));
  return best === 0 ? [] : scores.filter(({ score }) => score === best).map(({ id }) => id);
}
