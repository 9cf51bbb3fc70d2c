import { Injectable } from '@nestjs/common';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { DomainEvent } from '../../platform/events/outbox.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import type {
  CurrentNotification,
  NotificationCause,
  NotificationType,
} from '../../platform/notifications/notification-type.js';
import { TASK_FOLDER_SHARED, TaskEvents } from './tasks.events.js';
import type { TaskFolder } from './tasks.schema.js';

const titlesOfFolders = workspace.statement<Pick<TaskFolder, 'id'> & { title: string }>(
  'task_folders.titles',
  `SELECT folder.id, folder.name AS title
     FROM task_folder_members member
     JOIN task_folders folder ON folder.tenant_id = $1 AND folder.id = member.folder_id AND folder.gone_at IS NULL
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.folder_id = ANY ($3::uuid[]) AND member.role IS NOT NULL`,
);

/** Notifications of open tasks outside of the trash. */
const ofOpenTasks = (name: string, condition = 'true'): Statement<CurrentNotification> =>
  workspace.statement(
    `tasks.${name}`,
    `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
       JOIN task_members member ON member.tenant_id = $1 AND member.task_id = about.subject_id AND member.user_id = $2
       JOIN tasks task ON task.tenant_id = $1 AND task.id = about.subject_id
      WHERE member.role IS NOT NULL AND NOT member.trashed AND member.open AND ${condition}`,
  );

// The comments of others from the first to the last one that a notification counts. A completed task may still be discussed.
const ofComments = workspace.statement<CurrentNotification>(
  'tasks.current_comments',
  `SELECT about.id, least(about.count, found.comments) AS count, found.actor_id,
          about.data || jsonb_build_object('comment_id', found.comment_id) AS data
     FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid, count int, data jsonb)
     JOIN task_members member ON member.tenant_id = $1 AND member.task_id = about.subject_id AND member.user_id = $2
      AND member.role IS NOT NULL AND NOT member.trashed
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS comments, (array_agg(comment.id ORDER BY comment.id DESC))[1] AS comment_id,
             (array_agg(comment.author_id ORDER BY comment.id DESC))[1] AS actor_id
        FROM task_comments comment
       WHERE comment.tenant_id = $1 AND comment.task_id = about.subject_id AND comment.author_id <> $2
         AND comment.id BETWEEN coalesce(about.data->>'first_comment_id', about.data->>'comment_id')::uuid
                            AND (about.data->>'comment_id')::uuid) found
    WHERE found.comments > 0`,
);

/** Members of the payloads; see `TaskEvents`. */
interface TaskPayload {
  task_id: string;
  actor_id: string | null;
  added?: string[];
  recipients?: string[];
  comment_id?: string;
}

function causeOf({ payload }: DomainEvent): NotificationCause {
  const { task_id, actor_id, added, recipients, comment_id } = payload as unknown as TaskPayload;
  return {
    recipients: recipients ?? added ?? [],
    actorId: actor_id,
    subject: { kind: 'task', id: task_id },
    ...(comment_id !== undefined && { data: { comment_id } }),
  };
}

function folderCauseOf({ payload }: DomainEvent): NotificationCause {
  const { folder_id, actor_id, added } = payload as { folder_id: string; actor_id: string; added: string[] };
  return { recipients: added, actorId: actor_id, subject: { kind: 'task_folder', id: folder_id } };
}

// The day begins in the zone of the task, at most 14 hours before it does in UTC.
const REMINDED = `EXISTS (
  SELECT FROM jsonb_array_elements(task.reminders) reminder
   WHERE coalesce((reminder->>'at')::timestamptz,
                  coalesce(task.due_at, task.date::timestamp AT TIME ZONE 'UTC' - interval '14 hours')
                    - make_interval(mins => (reminder->>'minutes_before')::int)) <= clock_timestamp())`;

const taskType = (
  key: string,
  event: string,
  texts: NotificationType['texts'],
  more: Pick<NotificationType, 'lasts'> & Partial<NotificationType>,
): NotificationType => ({
  key,
  preference: 'task.*',
  texts,
  path: ({ subject }) => `/tasks/${subject.id}`,
  triggers: [{ event, causes: causeOf }],
  ...more,
});

const TYPES: readonly NotificationType[] = [
  taskType(
    'task.assigned',
    TaskEvents.assigned,
    {
      en: '{actor} assigned “{title}” to you',
      de: '{actor} hat Ihnen „{title}“ zugewiesen',
      pt: '{actor} atribuiu “{title}” a você',
      vi: '{actor} đã giao “{title}” cho bạn',
    },
    { lasts: ofOpenTasks('current_assignments', 'member.assigned') },
  ),
  taskType(
    'task.commented',
    TaskEvents.commented,
    {
      en: { one: '{actor} commented on “{title}”', other: '{count} new comments on “{title}”' },
      de: { one: '{actor} hat „{title}“ kommentiert', other: '{count} neue Kommentare zu „{title}“' },
      pt: { one: '{actor} comentou em “{title}”', other: '{count} novos comentários em “{title}”' },
      vi: '{count} bình luận mới về “{title}”',
    },
    { isGrouped: true, orderedBy: 'comment_id', lasts: ofComments },
  ),
  taskType(
    'task.reminder',
    TaskEvents.reminder,
    {
      en: 'Reminder: “{title}”',
      de: 'Erinnerung: „{title}“',
      pt: 'Lembrete: “{title}”',
      vi: 'Nhắc nhở: “{title}”',
    },
    { lasts: ofOpenTasks('current_reminders', REMINDED) },
  ),
  taskType(
    'task.due',
    TaskEvents.due,
    {
      en: '“{title}” is due',
      de: '„{title}“ ist fällig',
      pt: '“{title}” vence agora',
      vi: '“{title}” đã đến hạn',
    },
    { lasts: ofOpenTasks('current_dues', 'task.date IS NOT NULL AND task.due_stage <> 1') },
  ),
  taskType(
    'task.overdue',
    TaskEvents.overdue,
    {
      en: '“{title}” is overdue',
      de: '„{title}“ ist überfällig',
      pt: '“{title}” está atrasada',
      vi: '“{title}” đã quá hạn',
    },
    { lasts: ofOpenTasks('current_overdues', 'task.date IS NOT NULL AND task.due_stage = 0') },
  ),
  taskType(
    'task.folder_shared',
    TASK_FOLDER_SHARED,
    {
      en: '{actor} shared the task folder “{title}” with you',
      de: '{actor} hat den Aufgabenordner „{title}“ mit Ihnen geteilt',
      pt: '{actor} compartilhou a pasta de tarefas “{title}” com você',
      vi: '{actor} đã chia sẻ thư mục công việc “{title}” với bạn',
    },
    {
      path: ({ subject }) => `/task_folders/${subject.id}`,
      lasts: 'while_readable',
      triggers: [{ event: TASK_FOLDER_SHARED, causes: folderCauseOf }],
    },
  ),
];

/** Notifications of tasks and their folders. */
@Injectable()
export class TaskNotifications extends DomainNotifications {
  protected readonly types = TYPES;
  protected override readonly titles = { task_folder: titlesOfFolders };
}
