import { Module } from '@nestjs/common';
import { HolidaysModule } from '../holidays/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { Availability } from './availability.js';
import { AvailabilityRepository } from './availability.repository.js';
import { CalendarModule } from './calendar.module.js';
import { FreeBusyController } from './free-busy/free-busy.controller.js';
import { FreeBusyService } from './free-busy/free-busy.service.js';
import { FeedsController } from './ics/feeds.controller.js';
import { FeedsService } from './ics/feeds.service.js';
import { IcsExport } from './ics/ics-export.js';
import { IcsRepository } from './ics/ics.repository.js';
import { RelatedController } from './related/related.controller.js';
import { RelatedRepository } from './related/related.repository.js';
import { RelatedService } from './related/related.service.js';
import { OutsideVotesController } from './polls/outside/outside-votes.controller.js';
import { OutsideVotesService } from './polls/outside/outside-votes.service.js';
import { PollMails } from './polls/outside/poll-mails.js';
import { VoteLinks } from './polls/outside/vote-links.js';
import { PollHolds } from './polls/poll-holds.js';
import { PollFinalization } from './polls/poll-finalization.js';
import { PollsOfMembers } from './polls/polls-of-members.js';
import { PollsController } from './polls/polls.controller.js';
import { PollsRepository } from './polls/polls.repository.js';
import { PollsService } from './polls/polls.service.js';
import { CalendarPersonalData } from './calendar-personal-data.js';

/**
 * Free/busy, polls, related items, and calendars as iCalendar. The application imports this module before `CalendarModule`, so that
 * its fixed paths come before those with `:calendar_id`.
 */
@Module({
  imports: [CalendarModule, HolidaysModule, SettingsModule, TenantsModule],
  controllers: [
    FreeBusyController,
    OutsideVotesController,
    PollsController,
    FeedsController,
    RelatedController,
  ],
  providers: [
    AvailabilityRepository,
    Availability,
    FreeBusyService,
    RelatedRepository,
    RelatedService,
    PollsRepository,
    PollsService,
    PollFinalization,
    PollHolds,
    PollsOfMembers,
    PollMails,
    VoteLinks,
    OutsideVotesService,
    IcsRepository,
    IcsExport,
    CalendarPersonalData,
    FeedsService,
  ],
  exports: [FreeBusyService],
})
export class CalendarPlanningModule {}
