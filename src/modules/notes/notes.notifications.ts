import { Injectable } from '@nestjs/common';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import { workspace } from '../../platform/database/statement.js';
import type {
  CurrentNotification,
  NotificationType,
} from '../../platform/notifications/notification-type.js';

const outsideTrash = workspace.statement<CurrentNotification>(
  'notes.current',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
     JOIN note_members member ON member.tenant_id = $1 AND member.note_id = about.subject_id AND member.user_id = $2
    WHERE member.role IS NOT NULL AND NOT member.trashed`,
);

/** Invited members of a note. A change of its share link has no `added`. */
const SHARED: NotificationType = {
  key: 'note.shared',
  preference: 'note.shared',
  texts: {
    en: '{actor} shared the note “{title}” with you',
    de: '{actor} hat die Notiz „{title}“ mit Ihnen geteilt',
    pt: '{actor} compartilhou a nota “{title}” com você',
    vi: '{actor} đã chia sẻ ghi chú “{title}” với bạn',
  },
  path: ({ subject }) => `/notes/${subject.id}`,
  lasts: outsideTrash,
  triggers: [
    {
      event: 'note.shared',
      causes: ({ payload }) => {
        const {
          note_id,
          actor_id,
          added = [],
        } = payload as {
          note_id: string;
          actor_id: string;
          added?: string[];
        };
        return { recipients: added, actorId: actor_id, subject: { kind: 'note', id: note_id } };
      },
    },
  ],
};

/** Notifications of notes. */
@Injectable()
export class NoteNotifications extends DomainNotifications {
  protected readonly types = [SHARED];
}
