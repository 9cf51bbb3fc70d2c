import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { DomainEvent } from '../../../platform/events/outbox.js';
import { type Catalogues, translator } from '../../../platform/languages/languages.js';
import type {
  MailedNotification,
  NotificationCause,
  NotificationType,
} from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import type { MailContent, MailFact } from '../../../platform/system-mail/mail-template.js';
import type { SecurityEventType } from '../security-log.js';

/** Texts of notifications and subjects of e-mails. */
export const SECURITY_TEXTS: Record<SecurityEventType, NotificationType['texts']> = {
  'security.password_changed': {
    en: 'The password of your account was changed',
    de: 'Das Passwort Ihres Kontos wurde geändert',
    pt: 'A senha da sua conta foi alterada',
    vi: 'Mật khẩu tài khoản của bạn đã được thay đổi',
  },
  'security.email_changed': {
    en: 'The email address of your account was changed',
    de: 'Die E-Mail-Adresse Ihres Kontos wurde geändert',
    pt: 'O endereço de e-mail da sua conta foi alterado',
    vi: 'Địa chỉ email của tài khoản bạn đã được thay đổi',
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
  'security.passkey_added': {
    en: 'A passkey was added to your account',
    de: 'Ihrem Konto wurde ein Passkey hinzugefügt',
    pt: 'Uma chave de acesso foi adicionada à sua conta',
    vi: 'Một khóa truy cập đã được thêm vào tài khoản của bạn',
  },
  'security.passkey_removed': {
    en: 'A passkey of your account was removed',
    de: 'Ein Passkey Ihres Kontos wurde entfernt',
    pt: 'Uma chave de acesso da sua conta foi removida',
    vi: 'Một khóa truy cập của tài khoản bạn đã bị xóa',
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
  'security.new_browser': {
    en: 'A new browser signed in to your account',
    de: 'Ein neuer Browser hat sich bei Ihrem Konto angemeldet',
    pt: 'Um novo navegador entrou na sua conta',
    vi: 'Một trình duyệt mới đã đăng nhập vào tài khoản của bạn',
  },
};

type MailText =
  | 'time'
  | 'address'
  | 'browser'
  | 'browser_on_system'
  | 'unknown_browser'
  | 'application'
  | 'by_operator'
  | 'was_you'
  | 'was_not_you'
  | 'action'
  | 'reason';

/** Texts of the e-mails about security events. */
export const SECURITY_MAIL_TEXTS: Catalogues<MailText> = {
  en: {
    time: 'Time',
    address: 'Network address',
    browser: 'Browser',
    browser_on_system: '{browser} on {system}',
    unknown_browser: 'Unknown browser',
    application: 'Name',
    by_operator: 'The operator of the service did this.',
    was_you: 'If you did this, no action is necessary.',
    was_not_you:
      'If you did not do this, change your password and end all sessions now. If you can no longer sign in, contact an administrator of your workspace.',
    action: 'Open security settings',
    reason: 'Messages about the security of your account cannot be switched off.',
  },
  de: {
    time: 'Zeit',
    address: 'Netzwerkadresse',
    browser: 'Browser',
    browser_on_system: '{browser} unter {system}',
    unknown_browser: 'Unbekannter Browser',
    application: 'Name',
    by_operator: 'Das hat der Betreiber des Dienstes veranlasst.',
    was_you: 'Wenn Sie das waren, müssen Sie nichts tun.',
    was_not_you:
      'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort und beenden Sie alle Sitzungen. Wenn Sie sich nicht mehr anmelden können, wenden Sie sich an einen Administrator Ihres Arbeitsbereichs.',
    action: 'Sicherheitseinstellungen öffnen',
    reason: 'Nachrichten zur Sicherheit Ihres Kontos können nicht abgeschaltet werden.',
  },
  pt: {
    time: 'Hora',
    address: 'Endereço de rede',
    browser: 'Navegador',
    browser_on_system: '{browser} em {system}',
    unknown_browser: 'Navegador desconhecido',
    application: 'Nome',
    by_operator: 'O operador do serviço fez esta alteração.',
    was_you: 'Se foi você, não precisa fazer nada.',
    was_not_you:
      'Se não foi você, altere a sua senha e encerre todas as sessões agora. Se não conseguir mais entrar, fale com um administrador do seu espaço de trabalho.',
    action: 'Abrir configurações de segurança',
    reason: 'As mensagens sobre a segurança da sua conta não podem ser desativadas.',
  },
  vi: {
    time: 'Thời gian',
    address: 'Địa chỉ mạng',
    browser: 'Trình duyệt',
    browser_on_system: '{browser} trên {system}',
    unknown_browser: 'Trình duyệt không xác định',
    application: 'Tên',
    by_operator: 'Người vận hành dịch vụ đã thực hiện việc này.',
    was_you: 'Nếu chính bạn thực hiện, bạn không cần làm gì.',
    was_not_you:
      'Nếu không phải bạn, hãy đổi mật khẩu và kết thúc mọi phiên đăng nhập ngay. Nếu không còn đăng nhập được, hãy liên hệ quản trị viên của không gian làm việc.',
    action: 'Mở cài đặt bảo mật',
    reason: 'Không thể tắt thư về bảo mật tài khoản của bạn.',
  },
};

/** Page of the client for the security settings. */
const SETTINGS_PATH = '/settings/security';

/** The e-mail about a security event: its facts, and advice for an owner who did not cause it. */
export function securityMail(notification: MailedNotification): MailContent {
  const { text: subject, data, language, clientUrl } = notification;
  const text = translator(SECURITY_MAIL_TEXTS, language);
  return {
    subject,
    paragraphs: data['by_operator'] === true ? [text('by_operator')] : [],
    facts: factsOf(notification),
    action: { label: text('action'), url: `${clientUrl}${SETTINGS_PATH}` },
    closing: [text('was_you'), text('was_not_you')],
    footer: [text('reason')],
  };
}

function factsOf({ data, createdAt, language, timeZone }: MailedNotification): MailFact[] {
  const text = translator(SECURITY_MAIL_TEXTS, language);
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone });
  const { ip, browser, system, description } = data;
  const facts: MailFact[] = [{ label: text('time'), value: time.format(createdAt) }];
  const add = (label: 'address' | 'browser' | 'application', value: unknown) => {
    if (typeof value === 'string') facts.push({ label: text(label), value });
  };
  add('application', description);
  add('address', ip);
  if (browser !== undefined) add('browser', browserText(text, browser, system));
  return facts;
}

function browserText(
  text: (key: 'browser_on_system' | 'unknown_browser', values?: Record<string, string>) => string,
  browser: unknown,
  system: unknown,
): string {
  if (typeof browser !== 'string') return text('unknown_browser');
  return typeof system === 'string' ? text('browser_on_system', { browser, system }) : browser;
}

/** Facts of an event that its notification contains. */
const FACTS = ['browser', 'system', 'description', 'by_operator'] as const;

const MAIL_EXAMPLE = { ip: '192.0.2.7', browser: 'Firefox', system: 'Windows' };

/** The owner is notified of all events, also of those that the session of the owner caused: it may be used by an attacker. */
function causeOf({ payload }: DomainEvent): NotificationCause {
  const facts = FACTS.flatMap((name) =>
    payload[name] === undefined ? [] : [[name, payload[name]] as const],
  );
  const data = { ip: payload['ip'] ?? null, ...Object.fromEntries(facts) } as NotificationCause['data'];
  return { recipients: [payload['user_id'] as string], actorId: null, subject: null, ...(data && { data }) };
}

/** Notifications of security events. */
@Injectable()
export class SecurityNotifications implements OnModuleInit {
  constructor(private readonly notifications: Notifications) {}

  onModuleInit(): void {
    for (const [key, texts] of Object.entries(SECURITY_TEXTS))
      this.notifications.register({
        key,
        preference: 'security.*',
        texts,
        isRequired: true,
        lasts: 'always',
        mail: securityMail,
        mailExample: MAIL_EXAMPLE,
        triggers: [{ event: key, causes: causeOf }],
      });
  }
}
