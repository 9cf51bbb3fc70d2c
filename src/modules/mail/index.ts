export { MailProxyModule } from './mail-proxy.module.js';
export { MailApi } from './accounts/mail-accounts.js';
export { RecipientsApi } from './messages/drafts/recipients.js';
export { ReceivedMailApi, type Sender } from './messages/received-mail.api.js';
export { OPEN_MAIL_SCHEMAS } from './mail.response.js';
export { OwnMail, type SendOutcome } from './calendar-mail/own-mail.js';
export {
  CALENDAR_MAIL,
  type CalendarMail,
  CalendarMailReader,
} from './calendar-mail/calendar-mail-reader.js';
export { CalendarMailIntake } from './calendar-mail/calendar-mail-intake.js';
