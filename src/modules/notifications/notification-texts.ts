import type { Catalogues } from '../../platform/languages/languages.js';

type Key =
  | 'unavailable'
  | 'untitled'
  | 'unknown_actor'
  | 'many'
  | 'open'
  | 'reason'
  | 'security_reason'
  | 'stop_kind'
  | 'stop_all'
  | 'unsubscribe_title'
  | 'unsubscribe_question'
  | 'unsubscribe_confirm'
  | 'unsubscribed'
  | 'unsubscribe_invalid';

/** Texts of lists, mails and the page of unsubscription. */
export const NOTIFICATION_TEXTS: Catalogues<Key> = {
  en: {
    unavailable: 'This notification is about something that you can no longer open.',
    untitled: 'Untitled',
    unknown_actor: 'A user',
    many: { one: '{count} new notification', other: '{count} new notifications' },
    open: 'Open notifications',
    reason: 'You receive this e-mail because e-mail notifications are switched on in your settings.',
    security_reason: 'Messages about the security of your account cannot be switched off.',
    stop_kind: 'Stop e-mails of this kind',
    stop_all: 'Stop all notification e-mails',
    unsubscribe_title: 'Notification e-mails',
    unsubscribe_question: 'Stop these e-mails? You can switch them on again in your settings.',
    unsubscribe_confirm: 'Stop e-mails',
    unsubscribed: 'These e-mails are switched off. You can switch them on again in your settings.',
    unsubscribe_invalid: 'This link is not valid. Change your notifications in your settings.',
  },
  de: {
    unavailable: 'Diese Benachrichtigung betrifft etwas, das Sie nicht mehr öffnen können.',
    untitled: 'Ohne Titel',
    unknown_actor: 'Ein Benutzer',
    many: { one: '{count} neue Benachrichtigung', other: '{count} neue Benachrichtigungen' },
    open: 'Benachrichtigungen öffnen',
    reason:
      'Sie erhalten diese E-Mail, weil E-Mail-Benachrichtigungen in Ihren Einstellungen eingeschaltet sind.',
    security_reason: 'Nachrichten zur Sicherheit Ihres Kontos lassen sich nicht abschalten.',
    stop_kind: 'E-Mails dieser Art abschalten',
    stop_all: 'Alle Benachrichtigungs-E-Mails abschalten',
    unsubscribe_title: 'Benachrichtigungen per E-Mail',
    unsubscribe_question:
      'Diese E-Mails abschalten? Sie können sie in Ihren Einstellungen wieder einschalten.',
    unsubscribe_confirm: 'E-Mails abschalten',
    unsubscribed:
      'Diese E-Mails sind abgeschaltet. Sie können sie in Ihren Einstellungen wieder einschalten.',
    unsubscribe_invalid:
      'Dieser Link ist ungültig. Ändern Sie Ihre Benachrichtigungen in Ihren Einstellungen.',
  },
  pt: {
    unavailable: 'Esta notificação é sobre algo que você não pode mais abrir.',
    untitled: 'Sem título',
    unknown_actor: 'Um usuário',
    many: { one: '{count} nova notificação', other: '{count} novas notificações' },
    open: 'Abrir notificações',
    reason:
      'Você recebe este e-mail porque as notificações por e-mail estão ativadas nas suas configurações.',
    security_reason: 'As mensagens sobre a segurança da sua conta não podem ser desativadas.',
    stop_kind: 'Parar e-mails deste tipo',
    stop_all: 'Parar todos os e-mails de notificação',
    unsubscribe_title: 'E-mails de notificação',
    unsubscribe_question: 'Parar estes e-mails? Você pode ativá-los novamente nas suas configurações.',
    unsubscribe_confirm: 'Parar e-mails',
    unsubscribed: 'Estes e-mails estão desativados. Você pode ativá-los novamente nas suas configurações.',
    unsubscribe_invalid: 'Este link não é válido. Altere as notificações nas suas configurações.',
  },
  vi: {
    unavailable: 'Thông báo này nói về một mục mà bạn không còn mở được.',
    untitled: 'Không có tiêu đề',
    unknown_actor: 'Một người dùng',
    many: '{count} thông báo mới',
    open: 'Mở thông báo',
    reason: 'Bạn nhận được thư này vì thông báo qua thư điện tử đang bật trong phần cài đặt.',
    security_reason: 'Không thể tắt thư về bảo mật tài khoản của bạn.',
    stop_kind: 'Ngừng nhận thư loại này',
    stop_all: 'Ngừng nhận mọi thư thông báo',
    unsubscribe_title: 'Thư thông báo',
    unsubscribe_question: 'Ngừng nhận các thư này? Bạn có thể bật lại trong phần cài đặt.',
    unsubscribe_confirm: 'Ngừng nhận thư',
    unsubscribed: 'Đã tắt các thư này. Bạn có thể bật lại trong phần cài đặt.',
    unsubscribe_invalid: 'Liên kết này không hợp lệ. Hãy thay đổi thông báo trong phần cài đặt.',
  },
};
