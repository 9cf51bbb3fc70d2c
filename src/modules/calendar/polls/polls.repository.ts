import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { RowQuota } from '../../../platform/quotas/row-quota.js';
import { Poll } from '../calendar.schema.js';
import type { OptionRow, OutsideVoter, PollRecord, PollRow, VoteRow, VoterRow } from './poll-record.js';

interface PollJson {
  poll: PollRow;
  options: OptionRow[];
  participants: VoterRow[] | null;
  votes: VoteRow[] | null;
}

const POLL = `SELECT to_jsonb(poll) - 'tenant_id' AS poll,
          (SELECT json_agg(row_to_json(option) ORDER BY option.position) FROM poll_options option
            WHERE option.tenant_id = $1 AND option.poll_id = poll.id) AS options,
          (SELECT json_agg(row_to_json(participant) ORDER BY participant.id) FROM poll_participants participant
            WHERE participant.tenant_id = $1 AND participant.poll_id = poll.id) AS participants,
          (SELECT json_agg(row_to_json(vote)) FROM poll_votes vote
            WHERE vote.tenant_id = $1 AND vote.poll_id = poll.id) AS votes
     FROM polls poll
    WHERE poll.tenant_id = $1 AND poll.id = $2`;

// The owner and the participants of the workspace read a poll.
const read = workspace.statement<PollJson>(
  'calendar.read_poll',
  `${POLL} AND (poll.owner_id = $3 OR EXISTS (SELECT FROM poll_participants invited
            WHERE invited.tenant_id = $1 AND invited.poll_id = poll.id AND invited.user_id = $3))`,
);

const readForParticipant = workspace.statement<PollJson>(
  'calendar.read_poll_of_participant',
  `${POLL} AND EXISTS (SELECT FROM poll_participants invited
      WHERE invited.tenant_id = $1 AND invited.poll_id = poll.id AND invited.id = $3 AND invited.user_id IS NULL)`,
);

const readOwner = workspace.statement<{ email: string; name: string; locale: string | null }>(
  'calendar.poll_owner',
  `SELECT member.email, member.display_name AS name, own.locale FROM member_profiles member
     LEFT JOIN member_locales own ON own.tenant_id = $1 AND own.user_id = member.user_id
    WHERE member.tenant_id = $1 AND member.user_id = $2`,
);

const lock = workspace.statement<never>(
  'calendar.lock_poll',
  `SELECT FROM polls WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
);

// Index polls_open.
const openPollsOfUser = new RowQuota(
  'user',
  'open_polls',
  'calendar',
  'polls WHERE tenant_id = $1 AND owner_id = $2 AND option_id IS NULL AND cancelled_at IS NULL',
);

const insert = workspace.statement<never>(
  'calendar.insert_poll',
  `WITH given AS (SELECT $2::jsonb AS poll), made AS (
     INSERT INTO polls (tenant_id, id, owner_id, calendar_id, title, description, location, time_zone, kind, deadline,
                        allow_if_needed, anonymous, revision, created_at, updated_at)
     SELECT $1::uuid, row.id, row.owner_id, row.calendar_id, row.title, row.description, row.location, row.time_zone,
            row.kind, row.deadline, row.allow_if_needed, row.anonymous, 1, now(), now()
       FROM given, jsonb_populate_record(NULL::polls, poll) row RETURNING id
   ), options AS (
     INSERT INTO poll_options (tenant_id, poll_id, id, position, starts, ends, hold_event_id)
     SELECT $1::uuid, made.id, row.id, row.position, row.starts, row.ends, row.hold_event_id
       FROM made, given, jsonb_populate_recordset(NULL::poll_options, poll->'options') row
   )
   INSERT INTO poll_participants (tenant_id, poll_id, id, email, user_id, name, required, comment)
   SELECT $1::uuid, made.id, row.id, row.email, row.user_id, row.name, row.required, ''
     FROM made, given, jsonb_populate_recordset(NULL::poll_participants, poll->'participants') row`,
);

const replaceVotes = workspace.statement<never>(
  'calendar.replace_votes',
  `WITH removed AS (
     DELETE FROM poll_votes WHERE tenant_id = $1 AND poll_id = $2 AND participant_id = $3
       AND NOT option_id = ANY (SELECT row.option_id FROM jsonb_populate_recordset(NULL::poll_votes, $4::jsonb) row)
   ), voter AS (
     UPDATE poll_participants SET responded_at = now(), comment = $5
      WHERE tenant_id = $1 AND poll_id = $2 AND id = $3
   ), bumped AS (
     UPDATE polls SET revision = revision + 1, updated_at = now() WHERE tenant_id = $1 AND id = $2
   )
   INSERT INTO poll_votes (tenant_id, poll_id, option_id, participant_id, answer)
   SELECT $1, $2, row.option_id, $3, row.answer FROM jsonb_populate_recordset(NULL::poll_votes, $4::jsonb) row
   ON CONFLICT (tenant_id, poll_id, option_id, participant_id) DO UPDATE SET answer = excluded.answer`,
);

/** Columns that each change of a poll writes. */
const CHANGED = { revision: () => 'revision + 1', updated_at: () => 'now()' };

/** Polls with their options, participants and votes. */
@Injectable()
export class PollsRepository {
  /** Null means that there is no such poll, or that the caller does not take part in it. */
  async find(reader: Reader, { tenantId, userId }: RequestContext, id: string): Promise<PollRecord | null> {
    return recordOf((await reader.query(read, [tenantId, id, userId]))[0]);
  }

  /** Null means no such poll, or no such participant from outside of the workspace. */
  async findForParticipant(
    reader: Reader,
    { tenantId, pollId, participantId }: OutsideVoter,
  ): Promise<PollRecord | null> {
    return recordOf((await reader.query(readForParticipant, [tenantId, pollId, participantId]))[0]);
  }

  /** The owner of a poll, as mails name them. */
  async owner(reader: Reader, tenantId: string, userId: string) {
    return (await reader.query(readOwner, [tenantId, userId]))[0] ?? null;
  }

  /** Locks a poll until the end of the transaction. Read it afterwards: its votes are those as of the lock. */
  async lock(tx: Tx, tenantId: string, id: string): Promise<void> {
    await tx.query(lock, [tenantId, id]);
  }

  async insert(tx: Tx, tenantId: string, poll: Omit<PollRecord, 'votes'>): Promise<void> {
    await openPollsOfUser.take(tx, tenantId, poll.owner_id);
    await tx.query(insert, [tenantId, JSON.stringify(poll)]);
  }

  /** Replaces all votes of a participant. */
  async vote(
    tx: Tx,
    tenantId: string,
    pollId: string,
    participantId: string,
    votes: Pick<VoteRow, 'option_id' | 'answer'>[],
    comment: string,
  ): Promise<void> {
    await tx.query(replaceVotes, [tenantId, pollId, participantId, JSON.stringify(votes), comment]);
  }

  async cancel(tx: Tx, tenantId: string, pollId: string): Promise<void> {
    const values = { cancelled_at: () => 'now()', ...CHANGED };
    await rowsOf(tx, Poll).update({ tenant_id: tenantId, id: pollId }, values);
  }

  async finalize(
    tx: Tx,
    tenantId: string,
    pollId: string,
    chosen: Pick<Poll, 'option_id' | 'event_id' | 'calendar_id'>,
  ): Promise<void> {
    await rowsOf(tx, Poll).update({ tenant_id: tenantId, id: pollId }, { ...chosen, ...CHANGED });
  }
}

function recordOf(row: PollJson | undefined): PollRecord | null {
  if (!row) return null;
  const { poll, options, participants, votes } = row;
  return { ...poll, options, participants: participants ?? [], votes: votes ?? [] };
}
