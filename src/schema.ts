import { wholeSchema } from './platform/database/schema/schema-part.js';
import { platformSchema } from './platform/platform.schema.js';
import { accountSecuritySchema } from './modules/account-security/account-security.schema.js';
import { accessSchema } from './modules/access/access.schema.js';
import { calendarSchema } from './modules/calendar/calendar.schema.js';
import { davSchema } from './modules/dav/dav.schema.js';
import { formsSchema } from './modules/forms/forms.schema.js';
import { contactsSchema } from './modules/contacts/contacts.schema.js';
import { callsSchema } from './modules/calls/calls.schema.js';
import { chatSchema } from './modules/chat/chat.schema.js';
import { holidaysSchema } from './modules/holidays/holidays.schema.js';
import { issuersSchema } from './modules/issuers/issuers.schema.js';
import { identitySchema } from './modules/identity/identity.schema.js';
import { mailSchema } from './modules/mail/mail.schema.js';
import { noteFoldersSchema } from './modules/note-folders/note-folders.schema.js';
import { notesSchema } from './modules/notes/notes.schema.js';
import { notificationsSchema } from './modules/notifications/notifications.schema.js';
import { pushSchema } from './modules/push/push.schema.js';
import { scimSchema } from './modules/scim/scim.schema.js';
import { signInSchema } from './modules/sign-in/sign-in.schema.js';
import { personalDataSchema } from './modules/personal-data/personal-data.schema.js';
import { presenceSchema } from './modules/presence/presence.schema.js';
import { settingsSchema } from './modules/settings/settings.schema.js';
import { tasksSchema } from './modules/tasks/tasks.schema.js';
import { tenantsSchema } from './modules/tenants/tenants.schema.js';
import { incomingWebhooksSchema } from './modules/incoming-webhooks/incoming-webhooks.schema.js';
import { webhooksSchema } from './modules/webhooks/webhooks.schema.js';

/** The whole database: one line for each domain, in dependency order. */
export const schema = wholeSchema([
  platformSchema,
  tenantsSchema,
  identitySchema,
  accountSecuritySchema,
  signInSchema,
  issuersSchema,
  accessSchema,
  settingsSchema,
  scimSchema,
  holidaysSchema,
  noteFoldersSchema,
  tasksSchema,
  notesSchema,
  mailSchema,
  calendarSchema,
  formsSchema,
  presenceSchema,
  contactsSchema,
  chatSchema,
  notificationsSchema,
  callsSchema,
  davSchema,
  webhooksSchema,
  pushSchema,
  incomingWebhooksSchema,
  personalDataSchema,
]);
