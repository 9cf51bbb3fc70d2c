import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import type { PersonalArchive } from '../../platform/personal-data/personal-archive.js';
import {
  type DataOwner,
  PersonalData,
  PersonalDataSource,
} from '../../platform/personal-data/personal-data.js';
import {
  ERASED_NAME,
  erasedAddress,
  eraseUserRows,
  personalRows,
} from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { Calendar, Poll } from './calendar.schema.js';
import { EventsRepository } from './events.repository.js';
import { IcsExport } from './ics/ics-export.js';

const lockOwned = workspace.statement<never>('calendar.lock_owned', `SELECT calendars_lock_owned($1, $2)`);

const transferCalendars = workspace.statement<{ count: number }>(
  'calendar.transfer',
  `SELECT calendars_transfer($1, $2, $3, $4) AS count`,
);

/** The calendars that a member owns, for a transfer to another member. */
@Injectable()
export class CalendarsOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'calendars',
      order: 60,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Calendar).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  /** Locks the calendars and their events. No feed of a user changes, because calendars have counters of their own. */
  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lockOwned, [ctx.tenantId, from]);
    return [];
  }

  /** The new owner organizes the events. Shares, attendees and their responses stay; secret addresses become invalid. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return (await tx.query(transferCalendars, [ctx.tenantId, from, to, ctx.userId]))[0]?.count ?? 0;
  }
}

const lockPolls = workspace.statement<never>(
  'calendar.lock_polls_of_member',
  `SELECT FROM polls WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR NO KEY UPDATE`,
);

// An owner takes part in their poll. Events and tentative events follow with the calendars.
const transferPolls = workspace.statement<Pick<Poll, 'id'>>(
  'calendar.transfer_polls',
  `WITH moved AS (
     UPDATE polls SET owner_id = $3, revision = revision + 1, updated_at = now()
      WHERE tenant_id = $1 AND owner_id = $2 RETURNING id
   ), joined AS (
     INSERT INTO poll_participants (tenant_id, poll_id, id, email, user_id, name, required, comment)
     SELECT $1, moved.id, uuid_v7(), lower(heir.email), heir.user_id, heir.display_name, true, ''
       FROM moved JOIN member_profiles heir ON heir.tenant_id = $1 AND heir.user_id = $3
     ON CONFLICT (tenant_id, poll_id, email) DO UPDATE SET user_id = excluded.user_id
   )
   SELECT id FROM moved`,
);

/** The polls that a member owns, for a transfer to another member. */
@Injectable()
export class PollsOfMembers extends RegisteredContent {
  constructor(contents: MemberContent) {
    super(contents, {
      kind: 'polls',
      order: 55,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Poll).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lockPolls, [ctx.tenantId, from]);
    return [];
  }

  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    return (await tx.query(transferPolls, [ctx.tenantId, from, to])).length;
  }
}

const calendarRows = workspace.statement<never>(
  'calendar.personal_calendars',
  personalRows(`SELECT calendar.id, calendar.name, calendar.description, calendar.color, calendar.time_zone, calendar.is_default,
            calendar.default_reminders, calendar.created_at, calendar.updated_at
       FROM calendars calendar WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2 ORDER BY calendar.id`),
);
const events = workspace.statement<never>(
  'calendar.personal_events',
  personalRows(`SELECT event.id, event.uid, event.origin_calendar_id AS calendar_id, event.title, event.description, event.location,
            event.locations, event.starts, event.ends, event.time_zone, event.rules, event.added, event.excluded, event.status,
            event.show_as, event.visibility, event.categories, event.conference, event.links, event.custom
       FROM calendars calendar
       JOIN calendar_events event ON event.tenant_id = calendar.tenant_id AND event.origin_calendar_id = calendar.id
      WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2 ORDER BY event.id`),
);
const responses = workspace.statement<never>(
  'calendar.personal_responses',
  personalRows(`SELECT participant.event_id, participant.recurrence_key, participant.email, participant.name, participant.response,
            participant.comment, participant.responded_at
       FROM event_participants participant
      WHERE participant.tenant_id = $1 AND participant.user_id = $2
      ORDER BY participant.event_id, participant.recurrence_key`),
);
const proposals = workspace.statement<never>(
  'calendar.personal_proposals',
  personalRows(`SELECT proposal.id, proposal.event_id, proposal.recurrence_key, proposal.starts, proposal.ends, proposal.comment,
            proposal.status, proposal.created_at
       FROM event_proposals proposal WHERE proposal.tenant_id = $1 AND proposal.by_user_id = $2 ORDER BY proposal.id`),
);
const polls = workspace.statement<never>(
  'calendar.personal_polls',
  personalRows(`SELECT poll.id, poll.title, poll.description, poll.location, poll.time_zone, poll.kind, poll.deadline, poll.created_at,
            poll.cancelled_at, (
              SELECT jsonb_agg(jsonb_build_object('starts', option.starts, 'ends', option.ends) ORDER BY option.position)
                FROM poll_options option WHERE option.tenant_id = poll.tenant_id AND option.poll_id = poll.id) AS options
       FROM polls poll WHERE poll.tenant_id = $1 AND poll.owner_id = $2 ORDER BY poll.id`),
);
const votes = workspace.statement<never>(
  'calendar.personal_votes',
  personalRows(`SELECT voter.poll_id, voter.comment, voter.responded_at, (
              SELECT jsonb_agg(jsonb_build_object('starts', option.starts, 'ends', option.ends, 'answer', vote.answer) ORDER BY option.position)
                FROM poll_votes vote
                JOIN poll_options option ON option.tenant_id = vote.tenant_id AND option.poll_id = vote.poll_id AND option.id = vote.option_id
               WHERE vote.tenant_id = voter.tenant_id AND vote.poll_id = voter.poll_id AND vote.participant_id = voter.id) AS votes
       FROM poll_participants voter WHERE voter.tenant_id = $1 AND voter.user_id = $2 ORDER BY voter.poll_id`),
);
const ownedCalendars = workspace.statement<Pick<Calendar, 'id'>>(
  'calendar.personal_calendar_ids',
  `SELECT calendar.id FROM calendars calendar WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2 ORDER BY calendar.id`,
);

const NOT_SHARED =
  'NOT EXISTS (SELECT FROM calendar_shares share WHERE share.tenant_id = $1 AND share.calendar_id = calendar.id)';

// Meetings that are in calendars of other members are kept.
const erasePrivateEvents = workspace.statement<never>(
  'calendar.erase_private_events',
  `DELETE FROM calendar_events event USING calendars calendar
    WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2 AND event.tenant_id = $1 AND event.origin_calendar_id = calendar.id
      AND ${NOT_SHARED}
      AND NOT EXISTS (
        SELECT FROM calendar_entries entry
          JOIN calendars other ON other.tenant_id = $1 AND other.id = entry.calendar_id AND other.owner_id <> $2
         WHERE entry.tenant_id = $1 AND entry.event_id = event.id)`,
);

const erasePrivateCalendars = workspace.statement<never>(
  'calendar.erase_private_calendars',
  `DELETE FROM calendars calendar
    WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2
      AND ${NOT_SHARED}
      AND NOT EXISTS (SELECT FROM calendar_events event WHERE event.tenant_id = $1 AND event.origin_calendar_id = calendar.id)`,
);

// These calendars are kept because they are the origin of meetings with other members.
const renameCalendars = workspace.statement<never>(
  'calendar.erase_calendar_names',
  `UPDATE calendars calendar SET name = 'Calendar', description = ''
    WHERE calendar.tenant_id = $1 AND calendar.owner_id = $2
      AND ${NOT_SHARED}`,
);

const eraseOrganizer = workspace.statement<never>(
  'calendar.erase_organizer',
  `UPDATE calendar_events SET organizer_email = ${erasedAddress('$2::text')}, organizer_name = ${ERASED_NAME}
    WHERE tenant_id = $1 AND organizer_id = $2`,
);

const eraseParticipant = workspace.statement<never>(
  'calendar.erase_participant',
  `UPDATE event_participants SET email = ${erasedAddress('$2::text')}, name = ${ERASED_NAME}, comment = ''
    WHERE tenant_id = $1 AND user_id = $2`,
);

const eraseProposals = workspace.statement<never>(
  'calendar.erase_proposals',
  `UPDATE event_proposals SET by_email = ${erasedAddress('$2::text')}, by_name = ${ERASED_NAME}, comment = ''
    WHERE tenant_id = $1 AND by_user_id = $2`,
);

const erasePolls = workspace.statement<never>(
  'calendar.erase_private_polls',
  `DELETE FROM polls poll WHERE poll.tenant_id = $1 AND poll.owner_id = $2 AND NOT EXISTS (
      SELECT FROM poll_participants voter
       WHERE voter.tenant_id = $1 AND voter.poll_id = poll.id AND voter.user_id <> $2)`,
);

const eraseVoter = workspace.statement<never>(
  'calendar.erase_voter',
  `UPDATE poll_participants SET email = ${erasedAddress('$2::text')}, name = ${ERASED_NAME}, comment = ''
    WHERE tenant_id = $1 AND user_id = $2`,
);

const eraseUserTables = eraseUserRows(
  'calendar',
  'calendar_feeds',
  'calendar_preferences',
  'scheduling_messages',
);

/** The calendars of a user as JSON and as iCalendar, with responses, proposals and votes of the user. */
@Injectable()
export class CalendarPersonalData extends PersonalDataSource {
  constructor(
    data: PersonalData,
    private readonly calendars: EventsRepository,
    private readonly ics: IcsExport,
    private readonly db: Db,
  ) {
    super(data, {
      name: 'calendar',
      rows: {
        'calendars.json': calendarRows,
        'events.json': events,
        'responses.json': responses,
        'proposals.json': proposals,
        'polls.json': polls,
        'votes.json': votes,
      },
      erasure: {
        rows: [
          erasePrivateEvents,
          erasePrivateCalendars,
          renameCalendars,
          eraseOrganizer,
          eraseParticipant,
          eraseProposals,
          erasePolls,
          eraseVoter,
          ...eraseUserTables,
        ],
      },
    });
  }

  override async export(owner: DataOwner, archive: PersonalArchive): Promise<void> {
    await super.export(owner, archive);
    const { tenantId, userId } = owner;
    for (const { id } of await this.db.query(ownedCalendars, [tenantId, userId])) {
      const calendar = await this.calendars.context(this.db, owner, id);
      if (calendar) await archive.content(`${id}.ics`, this.ics.stream(tenantId, userId, calendar));
    }
  }
}
