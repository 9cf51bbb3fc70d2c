import { Module } from '@nestjs/common';
import { CallsModule } from '../calls/index.js';
import { CalendarHeads } from './calendar-heads.js';
import { CalendarNotifications } from './calendar.notifications.js';
import { CalendarTokens } from './calendar-tokens.js';
import { CalendarsController } from './calendars/calendars.controller.js';
import { CalendarsRepository } from './calendars/calendars.repository.js';
import { CalendarsService } from './calendars/calendars.service.js';
import { EventBatch } from './changes/event-batch.js';
import { EventCalls } from './changes/event-calls.js';
import { EventOperations } from './changes/event-operations.js';
import { EventRemovals } from './changes/event-removals.js';
import { OwnSettings } from './changes/own-settings.js';
import { EventUpdates } from './changes/event-updates.js';
import { EventWriter } from './changes/event-writer.js';
import { EventsRepository } from './events.repository.js';
import { EventBatchService } from './events/batch.service.js';
import { EventListRepository } from './events/event-list.repository.js';
import { EventWindowRepository } from './events/event-window.repository.js';
import { EventListsService } from './events/event-lists.service.js';
import { EventsApi } from './events/events.api.js';
import { EventsController } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import { EventPublicEvents } from './events/event-public-events.js';
import { AttendeeWrites } from './events/resources/attendee-writes.js';
import { DeletedEvents } from './events/resources/deleted-events.js';
import { EventResources } from './events/resources/event-resources.js';
import { EventResourcesRepository } from './events/resources/event-resources.repository.js';
import { ResourceWrites } from './events/resources/resource-writes.js';
import { IcsImport } from './events/ics-import.service.js';
import { RsvpService } from './events/rsvp.service.js';
import { CalendarsOfMembers } from './calendars/calendars-of-members.js';
import { CalendarHousekeeping } from './calendar-housekeeping.js';
import { ReminderClock } from './reminders/reminder-clock.js';
import { EventIndexer } from './search/event-index.js';
import { EventSearchController } from './search/event-search.controller.js';
import { EventSearchService } from './search/event-search.service.js';
import { TitleSuggestionsController } from './suggestions/title-suggestions.controller.js';
import { TitleSuggestions } from './suggestions/title-suggestions.service.js';
import { CalendarSyncController } from './sync/calendar-sync.controller.js';
import { CalendarSyncRepository } from './sync/calendar-sync.repository.js';
import { TenantsModule } from '../tenants/index.js';
import { CalendarSyncService } from './sync/calendar-sync.service.js';

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
