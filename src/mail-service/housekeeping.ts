import { Injectable, type OnModuleInit } from '@nestjs/common';
import { mailService } from './mail-service.schema.js';
import { PeriodicJobs } from '../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../platform/jobs/sweep.js';
import { purgeCalendarParts } from './calendar-parts/calendar-parts.repository.js';
import { purgeTokens } from './http/caller.guard.js';
import { MessagesRepository } from './messages/messages.repository.js';

const DAY = 86_400;

/** Thread keys without messages. */
const purgeThreads: Sweep = mailService.statement(
  'housekeeping.threads',
  deletion(
    'thread_keys',
    `created_at < now() - interval '1 year'
   AND NOT EXISTS (SELECT FROM messages
     WHERE messages.user_id = thread_keys.user_id AND messages.thread = thread_keys.thread)`,
  ),
);

/** Ids of system messages. They detect repeated requests, which the workspace sends within hours. */
const purgeSystemMessages: Sweep = mailService.statement(
  'housekeeping.system_messages',
  deletion('system_messages', `created_at < now() - interval '30 days'`),
);

/** Jobs of each day, by name. */
const DAILY: Readonly<Record<string, Sweep>> = {
  'purge-tokens': purgeTokens,
  'purge-calendar-parts': purgeCalendarParts,
  'purge-threads': purgeThreads,
  'purge-system-messages': purgeSystemMessages,
};

/** Deletes expired messages, expired tokens, old calendars, unused thread keys and old ids of system messages. */
@Injectable()
export class Housekeeping implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly messages: MessagesRepository,
  ) {}

  onModuleInit(): void {
    const run = () => this.messages.removeExpired();
    this.jobs.register({ name: 'expire-messages', everySeconds: 60, run });
    for (const [name, deletes] of Object.entries(DAILY))
      this.jobs.register({ name, everySeconds: DAY, deletes });
  }
}
