import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import type { DomainEvent } from '../../platform/events/outbox.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import type {
  CurrentNotification,
  NotificationCause,
  NotificationType,
} from '../../platform/notifications/notification-type.js';
import { CALL_ENDED, CALL_STARTED, RECORDING_FAILED, RECORDING_READY } from './model/call-events.js';
import { type Call, DEFAULT_CALL_TITLE, type Recording } from './calls.schema.js';

/** A call with more users has no recipients. */
const MAX_RECIPIENTS = 200;

/** SQL: the direct room of a call without a title of its own. */
const DIRECT = `room.tenant_id = $1 AND room.id = call.room_id AND room.type = 'direct' AND call.title = '${DEFAULT_CALL_TITLE}'`;

const direct = workspace.statement<{ direct: boolean }>(
  'calls.is_direct',
  `SELECT true AS direct FROM calls call JOIN chat_room_refs room ON ${DIRECT} WHERE call.tenant_id = $1 AND call.id = $2`,
);

// A call without a title in a direct room has the name of the other user.
const titles = workspace.statement<Pick<Call, 'id' | 'title'>>(
  'calls.titles',
  `SELECT call.id, coalesce(partner.display_name, call.title) AS title FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
     LEFT JOIN chat_room_refs room ON ${DIRECT}
     LEFT JOIN LATERAL (
       SELECT profile.display_name FROM chat_room_roles other
         JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = other.user_id
        WHERE other.tenant_id = $1 AND other.room_id = room.id AND other.user_id <> $2 LIMIT 1) partner ON room.id IS NOT NULL
    WHERE call.tenant_id = $1 AND call.id = ANY ($3::uuid[])`,
);

const recordingTitles = workspace.statement<Pick<Recording, 'id'> & { title: string }>(
  'recordings.titles',
  `SELECT recording.id, call.title FROM recordings recording
     JOIN calls call ON call.tenant_id = $1 AND call.id = recording.call_id
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
    WHERE recording.tenant_id = $1 AND recording.id = ANY ($3::uuid[])`,
);

const whileLive = workspace.statement<CurrentNotification>(
  'calls.current',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
     JOIN calls call ON call.tenant_id = $1 AND call.id = about.subject_id AND call.state = 'live'
    WHERE $2::uuid IS NOT NULL`,
);

// A call rings until its user has joined or declined it, on any device.
const ringing = workspace.statement<CurrentNotification>(
  'calls.ringing',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
     JOIN calls call ON call.tenant_id = $1 AND call.id = about.subject_id AND call.state = 'live'
    WHERE NOT EXISTS (
        SELECT FROM call_participants participant
         WHERE participant.tenant_id = $1 AND participant.call_id = call.id AND participant.principal_id = $2
           AND coalesce(participant.left_at, now()) >= call.started_at)
      AND NOT EXISTS (
        SELECT FROM call_declines decline
         WHERE decline.tenant_id = $1 AND decline.call_id = call.id AND decline.user_id = $2
           AND decline.declined_at >= call.started_at)`,
);

// The caller's rights are read again when a notification is shown.
const recipients = workspace.statement<{ user_id: string }>(
  'calls.recipients',
  `SELECT user_id FROM call_access WHERE tenant_id = $1 AND call_id = $2 LIMIT $3`,
);

// Users who neither joined nor declined the call since its start.
const missedBy = workspace.statement<{ user_id: string }>(
  'calls.missed_by',
  `SELECT access.user_id FROM call_access access
    WHERE access.tenant_id = $1 AND access.call_id = $2
      AND NOT EXISTS (
        SELECT FROM call_participants participant
         WHERE participant.tenant_id = $1 AND participant.call_id = $2 AND participant.principal_id = access.user_id
           AND coalesce(participant.left_at, now()) >= $4)
      AND NOT EXISTS (
        SELECT FROM call_declines decline
         WHERE decline.tenant_id = $1 AND decline.call_id = $2 AND decline.user_id = access.user_id AND decline.declined_at >= $4)
    LIMIT $3`,
);

// An automatic recording is tried several times. Only the first failed start notifies its requester. A call that starts again keeps the
// participants of its earlier runs.
const recordedBy = workspace.statement<{ user_id: string }>(
  'recordings.requested_by',
  `SELECT recording.requested_by AS user_id FROM recordings recording
    WHERE recording.tenant_id = $1 AND recording.id = $2 AND NOT EXISTS (
      SELECT FROM recordings before WHERE before.tenant_id = $1 AND before.call_id = recording.call_id AND before.id < recording.id
         AND before.requested_by = recording.requested_by AND before.error = 'not_started' AND recording.error = 'not_started')
    UNION SELECT participant.principal_id FROM recordings recording
     JOIN call_participants participant ON participant.tenant_id = $1 AND participant.call_id = recording.call_id
      AND participant.principal_kind = 'user' AND coalesce(participant.left_at, now()) >= recording.created_at
    WHERE recording.tenant_id = $1 AND recording.id = $2 AND recording.state = 'ready'`,
);

async function ofStart(
  { tenantId, payload }: DomainEvent,
  reader: Reader,
): Promise<NotificationCause | null> {
  const { call_id: id, user_id: actorId } = payload as { call_id: string; user_id: string };
  const users = await reader.query(recipients, [tenantId, id, MAX_RECIPIENTS + 1]);
  return ofCall(id, actorId, users, await reader.query(direct, [tenantId, id]));
}

/** The end of a scheduled call that never started has no recipients. */
async function ofEnd({ tenantId, payload }: DomainEvent, reader: Reader): Promise<NotificationCause | null> {
  const {
    call_id: id,
    started_at: startedAt,
    user_id: actorId,
  } = payload as { call_id: string; started_at: string | null; user_id: string | null };
  if (startedAt === null) return null;
  const users = await reader.query(missedBy, [tenantId, id, MAX_RECIPIENTS + 1, startedAt]);
  return ofCall(id, actorId, users, await reader.query(direct, [tenantId, id]));
}

function ofCall(
  id: string,
  actorId: string | null,
  users: { user_id: string }[],
  [data]: { direct: boolean }[],
): NotificationCause | null {
  if (users.length > MAX_RECIPIENTS) return null;
  const recipients = users.map((row) => row.user_id);
  return { recipients, actorId, subject: { kind: 'call', id }, ...(data && { data: { ...data } }) };
}

async function ofRecording({ tenantId, payload }: DomainEvent, reader: Reader): Promise<NotificationCause> {
  const { recording_id: id } = payload as { recording_id: string };
  const users = await reader.query(recordedBy, [tenantId, id]);
  return { recipients: users.map((row) => row.user_id), actorId: null, subject: { kind: 'recording', id } };
}

const callPath: NotificationType['path'] = ({ subject }) => `/calls/${subject.id}`;
const recordingPath: NotificationType['path'] = ({ subject }) => `/recordings/${subject.id}`;

const CALL_NOTIFICATIONS: readonly NotificationType[] = [
  {
    key: 'call.started',
    preference: 'call.started',
    texts: {
      en: '{actor} started the call “{title}”',
      de: '{actor} hat den Anruf „{title}“ gestartet',
      pt: '{actor} iniciou a chamada “{title}”',
      vi: '{actor} đã bắt đầu cuộc gọi “{title}”',
    },
    directTexts: {
      en: 'Call from {title}',
      de: 'Anruf von {title}',
      pt: 'Chamada de {title}',
      vi: 'Cuộc gọi từ {title}',
    },
    path: callPath,
    lasts: whileLive,
    rings: ringing,
    triggers: [{ event: CALL_STARTED, causes: ofStart }],
  },
  {
    key: 'call.missed',
    preference: 'call.missed',
    texts: {
      en: 'You missed the call “{title}”',
      de: 'Du hast den Anruf „{title}“ verpasst',
      pt: 'Você perdeu a chamada “{title}”',
      vi: 'Bạn đã bỏ lỡ cuộc gọi “{title}”',
    },
    directTexts: {
      en: 'You missed a call from {title}',
      de: 'Du hast einen Anruf von {title} verpasst',
      pt: 'Você perdeu uma chamada de {title}',
      vi: 'Bạn đã bỏ lỡ cuộc gọi từ {title}',
    },
    path: callPath,
    lasts: 'while_readable',
    triggers: [{ event: CALL_ENDED, causes: ofEnd }],
  },
  {
    key: 'recording.ready',
    preference: 'recording.ready',
    texts: {
      en: 'The recording of “{title}” is ready',
      de: 'Die Aufnahme von „{title}“ ist fertig',
      pt: 'A gravação de “{title}” está pronta',
      vi: 'Bản ghi của “{title}” đã sẵn sàng',
    },
    path: recordingPath,
    lasts: 'while_readable',
    triggers: [{ event: RECORDING_READY, causes: ofRecording }],
  },
  {
    key: 'recording.failed',
    preference: 'recording.failed',
    texts: {
      en: 'The recording of “{title}” failed',
      de: 'Die Aufnahme von „{title}“ ist fehlgeschlagen',
      pt: 'A gravação de “{title}” falhou',
      vi: 'Bản ghi của “{title}” bị lỗi',
    },
    path: recordingPath,
    lasts: 'while_readable',
    triggers: [{ event: RECORDING_FAILED, causes: ofRecording }],
  },
];

/** Registers the notifications of calls, and the titles that they show to users with access. */
@Injectable()
export class CallNotifications extends DomainNotifications {
  protected readonly types = CALL_NOTIFICATIONS;
  protected override readonly titles = { call: titles, recording: recordingTitles };
}
