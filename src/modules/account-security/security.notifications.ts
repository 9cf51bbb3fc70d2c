import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { DomainEvent } from '../../platform/events/outbox.js';
import type { NotificationCause, NotificationType } from '../../platform/notifications/notification-type.js';
import { Notifications } from '../../platform/notifications/notifications.js';
import type { SecurityEventType } from './security-log.js';

const TEXTS: Record<SecurityEventType, NotificationType['texts']> = {
  'security.password_changed': {
    en: 'The password of your account was changed',
    de: 'Das Passwort Ihres Kontos wurde geändert',
    pt: 'A senha da sua conta foi alterada',
    vi: 'Mật khẩu tài khoản của bạn đã được thay đổi',
  },
  'security.second_factor_enabled': {
    en: 'Two-step sign-in was switched on for your account',
    de: 'Die Anmeldung in zwei Schritten wurde für Ihr Konto eingeschaltet',
    pt: 'O acesso em duas etapas foi ativado na sua conta',
    vi: 'Đăng nhập hai bước đã được bật cho tài khoản của bạn',
  },
  'security.second_factor_disabled': {
    en: 'Two-step sign-in was switched off for your account',
    de: 'Die Anmeldung in zwei Schritten wurde für Ihr Konto ausgeschaltet',
    pt: 'O acesso em duas etapas foi desativado na sua conta',
    vi: 'Đăng nhập hai bước đã bị tắt cho tài khoản của bạn',
  },
  'security.second_factor_locked': {
    en: 'Two-step sign-in is locked for a while after several incorrect codes',
    de: 'Die Anmeldung in zwei Schritten ist nach mehreren falschen Codes für einige Zeit gesperrt',
    pt: 'O acesso em duas etapas está bloqueado por algum tempo após vários códigos incorretos',
    vi: 'Đăng nhập hai bước tạm thời bị khóa sau nhiều lần nhập sai mã',
  },
  'security.recovery_code_used': {
    en: 'A recovery code of your account was used',
    de: 'Ein Wiederherstellungscode Ihres Kontos wurde verwendet',
    pt: 'Um código de recuperação da sua conta foi usado',
    vi: 'Một mã khôi phục của tài khoản bạn đã được sử dụng',
  },
  'security.recovery_codes_renewed': {
    en: 'The recovery codes of your account were replaced',
    de: 'Die Wiederherstellungscodes Ihres Kontos wurden ersetzt',
    pt: 'Os códigos de recuperação da sua conta foram substituídos',
    vi: 'Các mã khôi phục của tài khoản bạn đã được thay thế',
  },
  'security.sessions_ended': {
    en: 'Sessions of your account were ended',
    de: 'Sitzungen Ihres Kontos wurden beendet',
    pt: 'Sessões da sua conta foram encerradas',
    vi: 'Các phiên đăng nhập của tài khoản bạn đã kết thúc',
  },
  'security.application_password_created': {
    en: 'An application password was created for your account',
    de: 'Für Ihr Konto wurde ein Anwendungspasswort erstellt',
    pt: 'Uma senha de aplicativo foi criada para a sua conta',
    vi: 'Một mật khẩu ứng dụng đã được tạo cho tài khoản của bạn',
  },
  'security.application_password_deleted': {
    en: 'An application password of your account was deleted',
    de: 'Ein Anwendungspasswort Ihres Kontos wurde gelöscht',
    pt: 'Uma senha de aplicativo da sua conta foi excluída',
    vi: 'Một mật khẩu ứng dụng của tài khoản bạn đã bị xóa',
  },
};

/** The owner is the recipient also of own actions: an attacker acts under the owner's name. */
function causeOf({ payload }: DomainEvent): NotificationCause {
  const { user_id, ip } = payload as { user_id: string; ip?: string | null };
  return { recipients: [user_id], actorId: null, subject: null, data: { ip: ip ?? null } };
}

/** Notifications of security events. */
@Injectable()
export class SecurityNotifications implements OnModuleInit {
  constructor(private readonly notifications: Notifications) {}

  onModuleInit(): void {
    for (const [key, texts] of Object.entries(TEXTS))
      this.notifications.register({
        key,
        preference: 'security.*',
        texts,
        isRequired: true,
        triggers: [{ event: key, causes: causeOf }],
      });
  }
}
