import type { NotificationType } from '../../../../platform/notifications/notification-type.js';

export const GUEST_WAITING: NotificationType = {
  key: 'guest.waiting',
  preference: 'guest.waiting',
  texts: {
    en: '{guest} waits to be admitted',
    de: '{guest} wartet auf Einlass',
    pt: '{guest} aguarda autorização para entrar',
    vi: '{guest} đang chờ được duyệt vào',
  },
};

export const DOMAIN_REQUESTED: NotificationType = {
  key: 'domain.requested',
  preference: 'domain.requested',
  texts: {
    en: '{actor} requests that guests of {domain} are allowed',
    de: '{actor} bittet darum, Gäste von {domain} zuzulassen',
    pt: '{actor} pede que convidados de {domain} sejam permitidos',
    vi: '{actor} đề nghị cho phép khách từ {domain}',
  },
};
