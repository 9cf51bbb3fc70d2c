import type { Catalogues } from '../../../platform/languages/languages.js';

const en = {
  subject: 'Your account in {workspace}',
  text: 'You have an account in the workspace {workspace}. You sign in with the address {email}.',
  password_text: 'The account has no password yet. Request a link on the page below and set one.',
  password_action: 'Set a password',
  sign_in_text: 'You sign in with the account of your company.',
  sign_in_action: 'Open the workspace',
};

export type WelcomeText = keyof typeof en;

/** Texts of the mail to a user whose account a provisioning client has created. */
export const WELCOME_TEXTS: Catalogues<WelcomeText> = {
  en,
  de: {
    subject: 'Ihr Konto in {workspace}',
    text: 'Sie haben ein Konto im Arbeitsbereich {workspace}. Sie melden sich mit der Adresse {email} an.',
    password_text:
      'Das Konto hat noch kein Passwort. Fordern Sie auf der Seite einen Link an und legen Sie eines fest.',
    password_action: 'Passwort festlegen',
    sign_in_text: 'Sie melden sich mit dem Konto Ihres Unternehmens an.',
    sign_in_action: 'Arbeitsbereich öffnen',
  },
  pt: {
    subject: 'A sua conta em {workspace}',
    text: 'Você tem uma conta no espaço de trabalho {workspace}. Você entra com o endereço {email}.',
    password_text: 'A conta ainda não tem senha. Solicite um link na página abaixo e defina uma.',
    password_action: 'Definir uma senha',
    sign_in_text: 'Você entra com a conta da sua empresa.',
    sign_in_action: 'Abrir o espaço de trabalho',
  },
  vi: {
    subject: 'Tài khoản của bạn trong {workspace}',
    text: 'Bạn có một tài khoản trong không gian làm việc {workspace}. Bạn đăng nhập bằng địa chỉ {email}.',
    password_text: 'Tài khoản chưa có mật khẩu. Hãy yêu cầu liên kết trên trang dưới đây và đặt mật khẩu.',
    password_action: 'Đặt mật khẩu',
    sign_in_text: 'Bạn đăng nhập bằng tài khoản của công ty.',
    sign_in_action: 'Mở không gian làm việc',
  },
};
