import { Injectable } from '@nestjs/common';
import { DomainNotifications } from '../../platform/notifications/domain-notifications.js';
import type { NotificationType } from '../../platform/notifications/notification-type.js';

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
