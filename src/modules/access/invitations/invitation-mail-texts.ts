import type { Catalogues } from '../../../platform/languages/languages.js';

const en = {
  subject: '{inviter} invites you to {workspace}',
  text: '{inviter} ({email}) invites you to join the workspace {workspace}.',
  join_subject: 'Join {workspace}',
  join_text: 'You requested a link to join the workspace {workspace}.',
  action: 'Join the workspace',
  closing: 'The link works once, until {date}. If you did not expect this mail, ignore it.',
};

/** Texts of the mails with the link of an invitation. */
export const INVITATION_MAIL_TEXTS: Catalogues<keyof typeof en> = {
  en,
  de: {
    subject: '{inviter} lädt Sie zu {workspace} ein',
    text: '{inviter} ({email}) lädt Sie in den Arbeitsbereich {workspace} ein.',
    join_subject: '{workspace} beitreten',
    join_text: 'Sie haben einen Link angefordert, um dem Arbeitsbereich {workspace} beizutreten.',
    action: 'Dem Arbeitsbereich beitreten',
    closing:
      'Der Link funktioniert einmal, bis zum {date}. Wenn Sie diese E-Mail nicht erwartet haben, ignorieren Sie sie.',
  },
  pt: {
    subject: '{inviter} convida você para {workspace}',
    text: '{inviter} ({email}) convida você para o espaço de trabalho {workspace}.',
    join_subject: 'Entrar em {workspace}',
    join_text: 'Você solicitou um link para entrar no espaço de trabalho {workspace}.',
    action: 'Entrar no espaço de trabalho',
    closing: 'O link funciona uma vez, até {date}. Se você não esperava este e-mail, ignore-o.',
  },
  vi: {
    subject: '{inviter} mời bạn tham gia {workspace}',
    text: '{inviter} ({email}) mời bạn tham gia không gian làm việc {workspace}.',
    join_subject: 'Tham gia {workspace}',
    join_text: 'Bạn đã yêu cầu liên kết để tham gia không gian làm việc {workspace}.',
    action: 'Tham gia không gian làm việc',
    closing: 'Liên kết chỉ dùng được một lần, đến {date}. Nếu bạn không chờ thư này, hãy bỏ qua.',
  },
};
