import { Module } from '@nestjs/common';
import { MailProxyModule } from '../../mail/index.js';
import { CalendarModule } from '../calendar.module.js';
import { Deliveries } from './deliveries.js';
import { IncomingMessages } from './incoming-messages.js';
import { OutgoingMessages } from './outgoing-messages.js';
import { SchedulingController } from './scheduling.controller.js';
import { SchedulingRepository } from './scheduling.repository.js';
import { SchedulingService } from './scheduling.service.js';

/** Meetings with attendees and organizers outside of the workspace: messages of RFC 5546 by mail (adr/0040). */
@Module({
  imports: [CalendarModule, MailProxyModule],
  controllers: [SchedulingController],
  providers: [SchedulingRepository, OutgoingMessages, IncomingMessages, Deliveries, SchedulingService],
})
export class CalendarSchedulingModule {}
