import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { EventsRepository } from '../events.repository.js';
import type { CreateEvent } from '../input/event.dto.js';
import { isAtLeast } from '../model/event-policy.js';
import { EventsService } from './events.service.js';

/** Events for other domains. */
@Injectable()
export class EventsApi {
  constructor(
    private readonly repository: EventsRepository,
    private readonly events: EventsService,
    private readonly db: Db,
  ) {}

  /** Whether the user may create events in the calendar. */
  async isWritable(ctx: RequestContext, calendarId: string): Promise<boolean> {
    const calendar = (await this.repository.contexts(this.db, ctx, [calendarId])).get(calendarId);
    return calendar !== undefined && isAtLeast(calendar.role, 'writer');
  }

  /** @returns the id of the new event @throws ApiError 404, 403; 422 for times */
  async create(ctx: RequestContext, calendarId: string, fields: CreateEvent): Promise<string> {
    const id = uuidv7();
    await this.events.create(ctx, calendarId, null, Checked.valid({ ...fields, id }));
    return id;
  }
}
