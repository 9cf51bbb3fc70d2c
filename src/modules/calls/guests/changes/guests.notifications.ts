import { workspace } from '../../../../platform/database/statement.js';
import type {
  CurrentNotification,
  NotificationType,
} from '../../../../platform/notifications/notification-type.js';

/** The kind of subjects whose title is the name of a guest, or a domain: for users who decide about it. */
export const GUEST_APPROVAL = 'guest_approval';

const undecided = workspace.statement<CurrentNotification>(
  'approvals.current',
  `SELECT about.id FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid)
     JOIN guest_approval_views view ON view.tenant_id = $1 AND view.id = about.subject_id AND view.state = 'waiting'
    WHERE $2::uuid IS NOT NULL`,
);

export const GUEST_WAITING: NotificationType = {
  key: 'guest.waiting',
  preference: 'guest.waiting',
  texts: {
    en: '{title} waits to be admitted',
    de: '{title} wartet auf Einlass',
    pt: '{title} aguarda autorização para entrar',
    vi: '{title} đang chờ được duyệt vào',
  },
  lasts: undecided,
};

export const DOMAIN_REQUESTED: NotificationType = {
  key: 'domain.requested',
  preference: 'domain.requested',
  texts: {
    en: '{actor} requests that guests of {title} are allowed',
    de: '{actor} bittet darum, Gäste von {title} zuzulassen',
    pt: '{actor} pede que convidados de {title} sejam permitidos',
    vi: '{actor} đề nghị cho phép khách từ {title}',
  },
  lasts: undecided,
};
