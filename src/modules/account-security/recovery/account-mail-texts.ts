import type { Catalogues } from '../../../platform/languages/languages.js';

const en = {
  password_subject: 'Set a new password',
  password_text: 'A new password was requested for the account {email}.',
  password_action: 'Set a new password',
  password_closing:
    'The link works once, for one hour. If you did not request it, ignore this mail: the password stays as it is.',
  email_subject: 'Confirm your new email address',
  email_text: '{name} changes the email address of an account from {old} to {email}.',
  email_action: 'Confirm the address',
  email_closing: 'The link works once, for one day. If you do not have this account, ignore this mail.',
  changed_subject: 'Your email address was changed',
  changed_text:
    'The email address of your account changed from {old} to {email}. Sign in with the new address.',
  changed_closing: 'If you did not change it, contact the administrator of your workspace at once.',
};

export type AccountMailText = keyof typeof en;

/** Texts of mails to the owner of an account. */
export const ACCOUNT_MAIL_TEXTS: Catalogues<AccountMailText> = {
  en,
  de: {
    password_subject: 'Neues Passwort festlegen',
    password_text: 'Für das Konto {email} wurde ein neues Passwort angefordert.',
    password_action: 'Neues Passwort festlegen',
    password_closing:
      'Der Link funktioniert einmal, eine Stunde lang. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail: Das Passwort bleibt unverändert.',
    email_subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
    email_text: '{name} ändert die E-Mail-Adresse eines Kontos von {old} zu {email}.',
    email_action: 'Adresse bestätigen',
    email_closing:
      'Der Link funktioniert einmal, einen Tag lang. Wenn Sie dieses Konto nicht haben, ignorieren Sie diese E-Mail.',
    changed_subject: 'Ihre E-Mail-Adresse wurde geändert',
    changed_text:
      'Die E-Mail-Adresse Ihres Kontos wurde von {old} zu {email} geändert. Melden Sie sich mit der neuen Adresse an.',
    changed_closing:
      'Wenn Sie das nicht waren, wenden Sie sich sofort an die Verwaltung Ihres Arbeitsbereichs.',
  },
  pt: {
    password_subject: 'Definir uma nova senha',
    password_text: 'Uma nova senha foi solicitada para a conta {email}.',
    password_action: 'Definir uma nova senha',
    password_closing:
      'O link funciona uma vez, por uma hora. Se você não o solicitou, ignore este e-mail: a senha continua a mesma.',
    email_subject: 'Confirme o seu novo endereço de e-mail',
    email_text: '{name} altera o endereço de e-mail de uma conta de {old} para {email}.',
    email_action: 'Confirmar o endereço',
    email_closing: 'O link funciona uma vez, por um dia. Se você não tem esta conta, ignore este e-mail.',
    changed_subject: 'O seu endereço de e-mail foi alterado',
    changed_text:
      'O endereço de e-mail da sua conta foi alterado de {old} para {email}. Entre com o novo endereço.',
    changed_closing: 'Se não foi você, avise imediatamente a administração do seu espaço de trabalho.',
  },
  vi: {
    password_subject: 'Đặt mật khẩu mới',
    password_text: 'Có yêu cầu đặt mật khẩu mới cho tài khoản {email}.',
    password_action: 'Đặt mật khẩu mới',
    password_closing:
      'Liên kết chỉ dùng được một lần, trong một giờ. Nếu bạn không yêu cầu, hãy bỏ qua thư này: mật khẩu không thay đổi.',
    email_subject: 'Xác nhận địa chỉ email mới của bạn',
    email_text: '{name} đổi địa chỉ email của một tài khoản từ {old} thành {email}.',
    email_action: 'Xác nhận địa chỉ',
    email_closing:
      'Liên kết chỉ dùng được một lần, trong một ngày. Nếu bạn không có tài khoản này, hãy bỏ qua thư này.',
    changed_subject: 'Địa chỉ email của bạn đã được thay đổi',
    changed_text:
      'Địa chỉ email của tài khoản bạn đã đổi từ {old} thành {email}. Hãy đăng nhập bằng địa chỉ mới.',
    changed_closing: 'Nếu không phải bạn, hãy liên hệ ngay với quản trị viên của không gian làm việc.',
  },
};
