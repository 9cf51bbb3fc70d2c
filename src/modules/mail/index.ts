export { MailProxyModule } from './mail-proxy.module.js';
export { MailApi } from './mail.api.js';
export { RecipientsApi } from './mail-recipients.api.js';
export type { KnownRecipient } from './mail-recipients.repository.js';
export { OPEN_MAIL_SCHEMAS } from './mail.response.js';
