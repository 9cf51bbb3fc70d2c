import { Body, Controller, Query, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { BytesBody, mediaTypeOf } from '../../../platform/http/body/body.guard.js';
import { assertFewValues, DEFAULT_LIMITS, parsedJson } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { assertStorable, removeInheritedKeys } from '../../../platform/http/storable-text.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { CALENDARS, CalendarErrors, EVENTS } from '../calendar.errors.js';
import {
  ListSchedulingMessages,
  MAX_ICS,
  ReceivedMessageEnvelope,
  SchedulingErrors,
  SchedulingMessageEnvelope,
  SchedulingMessageListEnvelope,
  SendSchedulingMessage,
  SentMessageEnvelope,
  TakeMessage,
} from './scheduling.dto.js';
import { SchedulingService } from './scheduling.service.js';

const CALENDAR_TYPE = 'text/calendar';
const COMMON_ERRORS = [CALENDARS.notFound, Errors.forbidden];

/** Messages of RFC 5546 from and to addresses outside of the workspace. */
@ApiTags('calendar')
@Controller('calendar/:calendar_id/scheduling')
export class SchedulingController {
  constructor(private readonly scheduling: SchedulingService) {}

  @Endpoint('POST outbox', {
    id: 'sendSchedulingMessage',
    summary: 'Send a scheduling message',
    description:
      'Changes of events, responses and proposals send their messages automatically. This operation repeats a message, or requests the current version (REFRESH). The message is sent from your mailbox; the log shows its delivery. A message reports only what the event shows: CANCEL needs a cancelled or deleted event or instance, DECLINECOUNTER a proposal; ADD is never sent, since REQUEST has added dates. PUBLISH names no attendee. Only for the owner of the calendar.',
    status: 202,
    response: [SentMessageEnvelope, 'The queued message.'],
    example: { method: 'REQUEST', event_id: '01890a5d-ac96-774b-bcce-b302099a8057' },
    errors: [
      ...COMMON_ERRORS,
      EVENTS.notFound,
      CalendarErrors.notAnInstance,
      SchedulingErrors.notYourMethod,
      SchedulingErrors.notApplicable,
      SchedulingErrors.unknownRecipient,
      SchedulingErrors.noMail,
    ],
  })
  send(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Body() body: SendSchedulingMessage,
  ) {
    return this.scheduling.send(ctx, calendarId, body);
  }

  @Endpoint('POST inbox', {
    id: 'takeSchedulingMessage',
    summary: 'Apply a received scheduling message',
    description:
      'Messages that arrive in mailboxes of this installation are applied automatically. The body is `text/calendar`, or JSON with `ics` or with a mail of your mailbox, at most 1 MiB. By this operation a user also adds published events, invitations to other addresses (mailing lists), those that another address than the organizer sends (forwarded mails, services; `reason` is `other_sender`, `from` the sender), and those with an unknown time zone, which is taken as the zone of the calendar (`reason` is `unknown_time_zone`). A mail from another address changes no event that the organizer has sent. A mail about several meetings has several calendars: all are applied, and the response is about one that has an effect. Status 201: the message created an event. Only for the owner of the calendar.',
    response: [ReceivedMessageEnvelope, 'The message with its effect, and the event.'],
    unchanged: 'The message with its effect, and the event.',
    status: 201,
    errors: [
      ...COMMON_ERRORS,
      SchedulingErrors.senderMismatch,
      SchedulingErrors.invalidIcs,
      SchedulingErrors.unknownMethod,
      SchedulingErrors.multipleUids,
      Errors.invalidJson,
      Errors.validationFailed,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
    ],
  })
  @ApiConsumes('application/json', CALENDAR_TYPE)
  @ApiBody({ required: true, type: TakeMessage })
  @BytesBody({ types: ['application/json', CALENDAR_TYPE], limit: MAX_ICS * 2 })
  take(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Req() request: Request,
  ): Promise<JsonReply<ReceivedMessageEnvelope>> {
    const bytes = request.body as Buffer;
    const isCalendar = mediaTypeOf(request) === CALENDAR_TYPE;
    return this.scheduling.take(ctx, calendarId, isCalendar ? bytes : validated(TakeMessage, jsonOf(bytes)));
  }

  @Endpoint('GET messages', {
    id: 'listSchedulingMessages',
    summary: 'List scheduling messages',
    description:
      'Messages that were sent and received for events of this calendar in the last 180 days, newest first, with the state of their delivery or their effect. Only for the owner of the calendar.',
    response: [SchedulingMessageListEnvelope, 'A page of messages.'],
    errors: COMMON_ERRORS,
  })
  list(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Query() query: ListSchedulingMessages,
  ): Promise<SchedulingMessageListEnvelope> {
    return this.scheduling.list(ctx, calendarId, query);
  }

  @Endpoint('GET messages/:message_id', {
    id: 'readSchedulingMessage',
    summary: 'Read a scheduling message',
    description: 'For the owner of the calendar. Messages are kept for 180 days.',
    response: [SchedulingMessageEnvelope, 'The message with its iCalendar text.'],
    errors: [...COMMON_ERRORS, SchedulingErrors.messageNotFound],
  })
  read(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Id('message_id') messageId: string,
  ): Promise<SchedulingMessageEnvelope> {
    return this.scheduling.read(ctx, calendarId, messageId);
  }
}

/** @throws ApiError 400 `invalid_json`; 413, 422 */
function jsonOf(bytes: Buffer): object {
  assertFewValues(bytes, DEFAULT_LIMITS.values);
  const value = parsedJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw Errors.invalidJson.with();
  assertStorable(value);
  removeInheritedKeys(value);
  return value;
}
