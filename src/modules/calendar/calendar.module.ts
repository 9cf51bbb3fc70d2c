import { Module } from '@nestjs/common';
import { CallsModule } from '../calls/index.js';
import { HolidaysModule } from '../holidays/index.js';
import { MailProxyModule } from '../mail/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { Availability, AvailabilityRepository } from './availability.js';
import { CalendarHeads } from './calendar-heads.js';
import { CalendarHousekeeping } from './calendar-housekeeping.js';
import { CalendarTokens } from './calendar-tokens.js';
import { CalendarNotifications } from './calendar.notifications.js';
import { CalendarPersonalData, CalendarsOfMembers, PollsOfMembers } from './calendars-of-members.js';
import { CalendarsController } from './calendars/calendars.controller.js';
import { CalendarsRepository } from './calendars/calendars.repository.js';
import { CalendarsService } from './calendars/calendars.service.js';
import { EventBatch } from './changes/event-batch.js';
import { EventCalls } from './changes/event-calls.js';
import { EventOperations } from './changes/event-operations.js';
import { EventRemovals } from './changes/event-removals.js';
import { EventUpdates } from './changes/event-updates.js';
import { EventWriter } from './changes/event-writer.js';
import { OwnSettings } from './changes/requested-changes.js';
import { EventsRepository } from './events.repository.js';
import { EventBatchService, EventsApi } from './events/batch.service.js';
import { EventListRepository, EventWindowRepository } from './events/event-lists.repository.js';
import { EventListsService } from './events/event-lists.service.js';
import { EventPublicEvents } from './events/event-public-events.js';
import { EventsController } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import { IcsImport } from './events/ics-import.service.js';
import { AttendeeWrites } from './events/resources/attendee-writes.js';
import { EventResources } from './events/resources/event-resources.js';
import { EventResourcesRepository } from './events/resources/event-resources.repository.js';
import { DeletedEvents } from './events/resources/resource-changes.js';
import { ResourceWrites } from './events/resources/resource-writes.js';
import { RsvpService } from './events/rsvp.service.js';
import { FreeBusyController, FreeBusyService } from './free-busy/free-busy.controller.js';
import { FeedsController, FeedsService } from './ics/feeds.controller.js';
import { IcsExport, IcsRepository } from './ics/ics-export.js';
import { OutsideVotesController, OutsideVotesService } from './polls/outside/outside-votes.controller.js';
import { PollMails, VoteLinks } from './polls/outside/poll-mails.js';
import { PollFinalization } from './polls/poll-finalization.js';
import { PollHolds } from './polls/poll-holds.js';
import { PollsController } from './polls/polls.controller.js';
import { PollsRepository } from './polls/polls.repository.js';
import { PollsService } from './polls/polls.service.js';
import { RelatedController, RelatedRepository, RelatedService } from './related/related.controller.js';
import { ReminderClock } from './reminders/reminder-clock.js';
import { IncomingMessages } from './scheduling/incoming-messages.js';
import { Deliveries, OutgoingMessages } from './scheduling/outgoing-messages.js';
import { SchedulingController } from './scheduling/scheduling.controller.js';
import { SchedulingRepository } from './scheduling/scheduling.repository.js';
import { SchedulingService } from './scheduling/scheduling.service.js';
import { EventIndexer, EventSearchController, EventSearchService } from './search/event-search.controller.js';
import { TitleSuggestions, TitleSuggestionsController } from './suggestions/title-suggestions.controller.js';
import {
  CalendarSyncController,
  CalendarSyncRepository,
  CalendarSyncService,
} from './sync/calendar-sync.controller.js';

/** Controllers with fixed paths below `/calendar` come before controllers with `:calendar_id`. */
@Module({
  imports: [TenantsModule, CallsModule],
  controllers: [
    EventSearchController,
    TitleSuggestionsController,
    CalendarSyncController,
    EventsController,
    CalendarsController,
  ],
  providers: [
    CalendarNotifications,
    EventPublicEvents,
    CalendarHeads,
    CalendarsRepository,
    CalendarsService,
    CalendarTokens,
    EventsRepository,
    EventWriter,
    EventCalls,
    EventOperations,
    OwnSettings,
    EventUpdates,
    EventRemovals,
    EventListRepository,
    EventWindowRepository,
    EventListsService,
    EventsService,
    EventsApi,
    RsvpService,
    EventBatch,
    EventBatchService,
    IcsImport,
    EventResourcesRepository,
    EventResources,
    AttendeeWrites,
    DeletedEvents,
    ResourceWrites,
    CalendarSyncRepository,
    CalendarSyncService,
    EventIndexer,
    EventSearchService,
    TitleSuggestions,
    CalendarHousekeeping,
    CalendarsOfMembers,
    ReminderClock,
  ],
  exports: [
    EventsRepository,
    EventBatch,
    EventOperations,
    EventRemovals,
    EventWriter,
    CalendarsService,
    EventsApi,
    EventResources,
    ResourceWrites,
  ],
})
export class CalendarModule {}

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

/** Meetings with attendees and organizers outside of the workspace: messages of RFC 5546 by mail (adr/0040). */
@Module({
  imports: [CalendarModule, MailProxyModule],
  controllers: [SchedulingController],
  providers: [SchedulingRepository, OutgoingMessages, IncomingMessages, Deliveries, SchedulingService],
})
export class CalendarSchedulingModule {}
