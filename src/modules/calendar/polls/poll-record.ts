export const ANSWERS = ['yes', 'if_needed', 'no'] as const;
export type Answer = (typeof ANSWERS)[number];

// Rows as PostgreSQL writes them as JSON.

export interface PollRow {
  id: string;
  owner_id: string;
  calendar_id: string | null;
  title: string;
  description: string;
  location: string;
  time_zone: string;
  kind: 'time' | 'date';
  deadline: string | null;
  allow_if_needed: boolean;
  anonymous: boolean;
  option_id: string | null;
  event_id: string | null;
  cancelled_at: string | null;
  revision: number;
  created_at: string;
  updated_at: string;
}

export interface OptionRow {
  id: string;
  position: number;
  /** Instants, or days with the same end. */
  starts: string;
  ends: string;
  /** The tentative event that keeps the time free. */
  hold_event_id: string | null;
}

export interface VoterRow {
  id: string;
  /** Lower case. */
  email: string;
  user_id: string | null;
  name: string;
  required: boolean;
  comment: string;
  responded_at: string | null;
}

export interface VoteRow {
  option_id: string;
  participant_id: string;
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

/** The options that the most participants can attend; of these, the ones with the most unconditional votes. None without votes. */
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
