import { Module } from '@nestjs/common';
import { CalendarsApi } from './calendar.api.js';
import { CalendarTokens } from './calendar-tokens.js';
import { CalendarsController } from './calendars/calendars.controller.js';
import { CalendarsRepository } from './calendars/calendars.repository.js';
import { CalendarsService } from './calendars/calendars.service.js';
import { EventOperations } from './event-operations.js';
import { EventRemovals } from './event-removals.js';
import { EventUpdates } from './event-updates.js';
import { EventWriter } from './event-writer.js';
import { EventsRepository } from './events.repository.js';
import { EventListRepository } from './events/event-list.repository.js';
import { EventListsService } from './events/event-lists.service.js';
import { EventsController } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import { RsvpService } from './events/rsvp.service.js';

/** Controllers with fixed names below `/calendar` come before those with `:calendar_id`. */
@Module({
  controllers: [EventsController, CalendarsController],
  providers: [
    CalendarsRepository,
    CalendarsService,
    CalendarTokens,
    EventsRepository,
    EventWriter,
    EventOperations,
    EventUpdates,
    EventRemovals,
    EventListRepository,
    EventListsService,
    EventsService,
    RsvpService,
    CalendarsApi,
  ],
  exports: [CalendarsApi, EventsRepository, EventOperations, EventWriter],
})
export class CalendarModule {}
