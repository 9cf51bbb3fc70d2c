import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { DomainEvent } from '../../platform/events/outbox.js';
import { DomainNotifications } from '../../platform/notifications/domain-notifications.js';
import type { NotificationCause, NotificationType } from '../../platform/notifications/notification-type.js';
import { TASK_FOLDER_SHARED, TaskEvents } from './tasks.events.js';

const titlesOfFolders = workspace.statement<{ id: string; title: string }>(
  'task_folders.titles',
  `SELECT folder.id, folder.name AS title
     FROM task_folder_members member
     JOIN task_folders folder ON folder.tenant_id = $1 AND folder.id = member.folder_id AND folder.gone_at IS NULL
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.folder_id = ANY ($3::uuid[]) AND member.role IS NOT NULL`,
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

const taskType = (
  key: string,
  event: string,
  texts: NotificationType['texts'],
  more: Partial<NotificationType> = {},
): NotificationType => ({
  key,
  preference: 'task.*',
  texts,
  path: ({ subject }) => `/tasks/${subject.id}`,
  triggers: [{ event, causes: causeOf }],
  ...more,
});

const TYPES: readonly NotificationType[] = [
  taskType('task.assigned', TaskEvents.assigned, {
    en: '{actor} assigned “{title}” to you',
    de: '{actor} hat Ihnen „{title}“ zugewiesen',
    pt: '{actor} atribuiu “{title}” a você',
    vi: '{actor} đã giao “{title}” cho bạn',
  }),
  taskType(
    'task.commented',
    TaskEvents.commented,
    {
      en: { one: '{actor} commented on “{title}”', other: '{count} new comments on “{title}”' },
      de: { one: '{actor} hat „{title}“ kommentiert', other: '{count} neue Kommentare zu „{title}“' },
      pt: { one: '{actor} comentou em “{title}”', other: '{count} novos comentários em “{title}”' },
      vi: '{count} bình luận mới về “{title}”',
    },
    { isGrouped: true },
  ),
  taskType('task.reminder', TaskEvents.reminder, {
    en: 'Reminder: “{title}”',
    de: 'Erinnerung: „{title}“',
    pt: 'Lembrete: “{title}”',
    vi: 'Nhắc nhở: “{title}”',
  }),
  taskType('task.due', TaskEvents.due, {
    en: '“{title}” is due',
    de: '„{title}“ ist fällig',
    pt: '“{title}” vence agora',
    vi: '“{title}” đã đến hạn',
  }),
  taskType('task.overdue', TaskEvents.overdue, {
    en: '“{title}” is overdue',
    de: '„{title}“ ist überfällig',
    pt: '“{title}” está atrasada',
    vi: '“{title}” đã quá hạn',
  }),
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
