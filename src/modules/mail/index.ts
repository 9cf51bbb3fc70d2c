export { MailProxyModule } from './mail-proxy.module.js';
export { MailApi } from './accounts/mail.api.js';
export { RecipientsApi } from './messages/drafts/recipients.api.js';
export type { KnownRecipient } from './messages/drafts/recipients.repository.js';
export { OPEN_MAIL_SCHEMAS } from './mail.response.js';
