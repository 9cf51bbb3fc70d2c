import { Controller, Delete, Get } from '@nestjs/common';
import Joi from 'joi';
import { ServiceCall } from '../http/call.js';
import { ofService } from '../http/fields.js';
import { CalendarPartsRepository } from './calendar-parts.repository.js';

const MAX_PARTS = 100;

const listing = ofService({
  after: Joi.number().integer().min(0).default(0),
  limit: Joi.number().integer().min(1).max(MAX_PARTS).default(20),
});
const removal = ofService({
  ids: Joi.string()
    .regex(/^\d{1,15}(?:,\d{1,15})*$/)
    .max(16 * MAX_PARTS)
    .required(),
});

/** WildDuck has no such route. The workspace reads received calendars with the service token, and deletes those that it has stored. */
@Controller('calendar-parts')
export class CalendarPartsController {
  constructor(private readonly parts: CalendarPartsRepository) {}

  @Get()
  async list(@ServiceCall(listing) { after, limit }: { after: number; limit: number }) {
    const rows = await this.parts.list(after, limit);
    return {
      success: true,
      results: rows.map((row) => ({
        id: Number(row.id),
        user: row.user_id,
        mailbox: row.mailbox_id,
        message: Number(row.uid),
        messageId: row.message_id,
        from: row.sender,
        method: row.method,
        content: row.content?.toString('base64') ?? null,
        isNew: row.is_new,
      })),
    };
  }

  @Delete(':ids')
  async remove(@ServiceCall(removal) { ids }: { ids: string }) {
    return { success: true, deleted: await this.parts.remove(ids.split(',').map(Number)) };
  }
}
