import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { DomainEvent } from '../../../platform/events/outbox.js';
import type { NotificationCause } from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import { securityMail } from './security-mail.js';
import { SECURITY_TEXTS } from './security-texts.js';

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
