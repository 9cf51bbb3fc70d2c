import { Injectable } from '@nestjs/common';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { DomainEvent } from '../../platform/events/outbox.js';
import type { Reader } from '../../platform/database/tx.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import type {
  CurrentNotification,
  NotificationCause,
  NotificationType,
} from '../../platform/notifications/notification-type.js';
import { CalendarEvents, type ItemEvent, type ReminderDue } from './calendar.events.js';
import type { CalendarEvent } from './calendar.schema.js';

const EVENT = 'calendar_event';
const DAY_MS = 86_400_000;

// Members who take part and have not declined. After a change of one instance, only its attendees get one.
const invited = workspace.statement<Pick<CalendarEvent, 'sequence' | 'status'> & { user_id: string }>(
  'calendar.invited_members',
  `SELECT DISTINCT participant.user_id, event.sequence, event.status
     FROM event_participants participant
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = $2
     LEFT JOIN event_history change
       ON change.tenant_id = $1 AND change.event_id = $2 AND change.revision = $3 AND change.recurrence_key ~ '^\\d'
    WHERE participant.tenant_id = $1 AND participant.event_id = $2 AND participant.user_id IS NOT NULL
      AND participant.user_id IS DISTINCT FROM event.organizer_id AND participant.response <> 'declined'
      AND NOT participant.uninvited AND (change.recurrence_key IS NULL OR participant.recurrence_key = change.recurrence_key
        OR participant.recurrence_key = '' AND NOT EXISTS (
          SELECT FROM event_participants absent
           WHERE absent.tenant_id = $1 AND absent.event_id = $2 AND absent.recurrence_key = change.recurrence_key
             AND absent.email = participant.email AND absent.uninvited))`,
);

// Readers are participants, also of a deleted event, and owners of a calendar with the event. An attendee of some instances gets the
// title of the first of them.
const titles = workspace.statement<Pick<CalendarEvent, 'id'> & { title: string }>(
  'calendar.event_titles',
  `SELECT event.id, coalesce((
      SELECT override.patch->>'title' FROM event_participants guest
        LEFT JOIN event_overrides override ON override.tenant_id = $1 AND override.event_id = event.id
         AND override.recurrence_key = guest.recurrence_key
       WHERE guest.tenant_id = $1 AND guest.event_id = event.id AND guest.user_id = $2 AND NOT guest.uninvited
         AND event.organizer_id IS DISTINCT FROM $2 AND NOT EXISTS (
           SELECT FROM event_participants whole WHERE whole.tenant_id = $1 AND whole.event_id = event.id
              AND whole.user_id = $2 AND whole.recurrence_key = '')
       ORDER BY guest.recurrence_key LIMIT 1), event.title) AS title
     FROM calendar_events event
    WHERE event.tenant_id = $1 AND event.id = ANY ($3::uuid[]) AND (
      EXISTS (SELECT FROM event_participants participant
               WHERE participant.tenant_id = $1 AND participant.event_id = event.id AND participant.user_id = $2)
      OR EXISTS (SELECT FROM calendar_entries entry
                   JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id
                        AND calendar.owner_id = $2
                  WHERE entry.tenant_id = $1 AND entry.event_id = event.id))`,
);

// Events on a condition, for their participants and the owners of a calendar with them. A participant may be excluded later.
const eventsWith = (name: string, condition: string): Statement<CurrentNotification> =>
  workspace.statement(
    `calendar.${name}`,
    `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid, data jsonb)
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = about.subject_id AND ${condition}
    WHERE EXISTS (SELECT FROM event_participants participant
                   WHERE participant.tenant_id = $1 AND participant.event_id = event.id AND participant.user_id = $2
                     AND NOT participant.uninvited)
       OR EXISTS (SELECT FROM calendar_entries entry
                    JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id AND calendar.owner_id = $2
                   WHERE entry.tenant_id = $1 AND entry.event_id = event.id)`,
  );

const TAKES_PLACE = `event.deleted_at IS NULL AND event.status <> 'cancelled'`;
const takingPlace = eventsWith('current', TAKES_PLACE);
const atTheirTime = eventsWith(
  'current_reminders',
  `${TAKES_PLACE} AND event.starts = coalesce(about.data->>'event_starts', event.starts)`,
);

// Those who were excluded by the cancellation are told of it too.
const calledOff = workspace.statement<CurrentNotification>(
  'calendar.current_cancellations',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = about.subject_id
    WHERE $2::uuid IS NOT NULL AND (event.deleted_at IS NOT NULL OR event.status = 'cancelled')`,
);

async function causeOf(
  event: DomainEvent,
  reader: Reader,
  about: (row: { sequence: number; status: string }) => { isWanted: boolean; key: string },
): Promise<NotificationCause | null> {
  const { event_id, actor_id, revision } = event.payload as unknown as ItemEvent;
  const rows = await reader.query(invited, [event.tenantId, event_id, revision]);
  const [first] = rows;
  if (!first) return null;
  const { isWanted, key } = about(first);
  if (!isWanted) return null;
  const recipients = rows.map(({ user_id }) => user_id);
  return { recipients, actorId: actor_id, subject: { kind: EVENT, id: event_id }, key: `${event_id} ${key}` };
}

/** Time and place of the event of a reminder, in the language and the zone of its recipient. */
const whenAndWhere: NotificationType['detail'] = ({ data, language, timeZone }) => {
  const { start, end, first_day: first, end_day: last, location } = data as unknown as Partial<ReminderDue>;
  if (start === undefined || end === undefined) return '';
  const isOfDays = typeof first === 'string' && typeof last === 'string';
  const format = new Intl.DateTimeFormat(
    language,
    isOfDays ? { dateStyle: 'full', timeZone: 'UTC' } : { dateStyle: 'full', timeStyle: 'short', timeZone },
  );
  const range = isOfDays
    ? format.formatRange(new Date(first), new Date(Date.parse(last) - DAY_MS))
    : `${format.formatRange(new Date(start), new Date(end))} (${timeZone})`;
  return location ? `${range} · ${location}` : range;
};

const path: NotificationType['path'] = ({ subject }) => `/calendar/events/${subject.id}`;

const TYPES: readonly NotificationType[] = [
  {
    key: 'calendar.invited',
    preference: 'calendar.*',
    texts: {
      en: '{actor} invited you to “{title}”',
      de: '{actor} hat Sie zu „{title}“ eingeladen',
      pt: '{actor} convidou você para “{title}”',
      vi: '{actor} đã mời bạn tham gia “{title}”',
    },
    path,
    lasts: takingPlace,
    // The key `invited` makes it one notification for each participant. An update may add participants.
    triggers: [CalendarEvents.created, CalendarEvents.updated].map((event) => ({
      event,
      causes: (happened, reader) =>
        causeOf(happened, reader, ({ status }) => ({ isWanted: status !== 'cancelled', key: 'invited' })),
    })),
  },
  {
    key: 'calendar.changed',
    preference: 'calendar.*',
    texts: {
      en: '{actor} changed the time or place of “{title}”',
      de: '{actor} hat Zeit oder Ort von „{title}“ geändert',
      pt: '{actor} alterou o horário ou o local de “{title}”',
      vi: '{actor} đã thay đổi thời gian hoặc địa điểm của “{title}”',
    },
    path,
    lasts: takingPlace,
    // The sequence grows with changes that concern the participants (RFC 5545, section 3.8.7.4), not with their replies.
    triggers: [
      {
        event: CalendarEvents.updated,
        causes: (happened, reader) =>
          causeOf(happened, reader, ({ sequence, status }) => ({
            isWanted: sequence > 0 && status !== 'cancelled',
            key: String(sequence),
          })),
      },
    ],
  },
  {
    key: 'calendar.cancelled',
    preference: 'calendar.*',
    texts: {
      en: '{actor} cancelled “{title}”',
      de: '{actor} hat „{title}“ abgesagt',
      pt: '{actor} cancelou “{title}”',
      vi: '{actor} đã hủy “{title}”',
    },
    lasts: calledOff,
    // An event of an outside organizer that is deleted with its last calendar is not cancelled.
    triggers: [CalendarEvents.deleted, CalendarEvents.updated].map((event) => ({
      event,
      causes: (happened, reader) =>
        causeOf(happened, reader, ({ status }) => ({ isWanted: status === 'cancelled', key: 'cancelled' })),
    })),
  },
  {
    key: 'calendar.reminder',
    preference: 'calendar.*',
    texts: {
      en: 'Reminder: “{title}”',
      de: 'Erinnerung: „{title}“',
      pt: 'Lembrete: “{title}”',
      vi: 'Nhắc nhở: “{title}”',
    },
    detail: whenAndWhere,
    path,
    lasts: atTheirTime,
    triggers: [
      {
        event: CalendarEvents.reminderDue,
        causes: ({ payload }) => {
          const { event_id, user_id, start, end, event_starts, minutes } = payload as unknown as ReminderDue;
          const { first_day, end_day, location } = payload as unknown as ReminderDue;
          return {
            recipients: [user_id],
            actorId: null,
            subject: { kind: EVENT, id: event_id },
            data: {
              start,
              event_starts,
              minutes,
              ...(location !== undefined && {
                end,
                first_day: first_day ?? null,
                end_day: end_day ?? null,
                location,
              }),
            },
          };
        },
      },
    ],
  },
];

/** Notifications of events, for participants who are members. */
@Injectable()
export class CalendarNotifications extends DomainNotifications {
  protected readonly types = TYPES;
  protected override readonly titles = { [EVENT]: titles };
}
