import { Controller, Query } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiTags } from '@nestjs/swagger';
import { UPLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { Form, UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Revisioned } from '../../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { mediaTypeOf, StreamedBody } from '../../../platform/http/body/body.guard.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { CallErrors } from '../../calls/index.js';
import { CalendarErrors, CALENDARS, EVENTS, RuleErrors } from '../calendar.errors.js';
import { CreateEvent, DeletedPart, DeleteEvent, UpdateEvent } from '../input/event.dto.js';
import { EventId, type EventRef } from '../input/event-ref.js';
import {
  BatchEvents,
  EventBatchEnvelope,
  EventEnvelope,
  EventListEnvelope,
  InstanceListEnvelope,
  ListEvents,
  ListInstances,
  ProposalEnvelope,
  ProposeTime,
  ReadEvent,
  RespondToEvent,
  UpdatedEventEnvelope,
} from './events.dto.js';
import { EventBatchService } from './batch.service.js';
import { EventListsService } from './event-lists.service.js';
import { EventsService } from './events.service.js';
import { IcsImport } from './ics-import.service.js';
import { RsvpService } from './rsvp.service.js';

const ICS_TYPE = 'text/calendar';
const BATCH_BODY_BYTES = 8 * 1024 * 1024;
/** 500 events, each with 100 values on average. */
const BATCH_VALUES = 50_000;
const TIME_ERRORS = [...Object.values(RuleErrors), CalendarErrors.noInstances, CalendarErrors.unknownUser];
const WRITE_ERRORS = [EVENTS.notFound, Errors.forbidden, CalendarErrors.notAnInstance];

@ApiTags('calendar')
@Controller('calendar/:calendar_id')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly lists: EventListsService,
    private readonly rsvps: RsvpService,
    private readonly batches: EventBatchService,
    private readonly imports: IcsImport,
  ) {}

  @Endpoint('GET events', {
    id: 'listEvents',
    summary: 'List events',
    description: 'Series and single events of a calendar. Instances of series are listed by `instances`.',
    response: [EventListEnvelope, 'A page of events.'],
    errors: [CALENDARS.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Id('calendar_id') calendarId: string, @Query() query: ListEvents) {
    return this.lists.list(ctx, calendarId, query);
  }

  @Endpoint('GET instances', {
    id: 'listInstances',
    summary: 'List instances in a window',
    description:
      'Single events and instances of series that overlap the window (half-open), in the order of their start.',
    response: [InstanceListEnvelope, 'A page of instances.'],
    errors: [CALENDARS.notFound, Errors.invalidCursor, CalendarErrors.windowTooLarge],
  })
  instances(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Query() query: ListInstances,
  ) {
    return this.lists.instances(ctx, calendarId, query);
  }

  @Endpoint('POST events', {
    id: 'createEvent',
    summary: 'Create an event',
    description:
      'Attendees of the workspace get the event into their default calendars, others an invitation by mail.',
    status: 201,
    response: [EVENTS.envelopes.item, 'The new event.'],
    etag: 'event',
    example: {
      title: 'Planning',
      start: { date_time: '2026-03-02T09:00:00', time_zone: 'Europe/Berlin' },
      duration: 'PT1H',
      recurrence: { rules: ['FREQ=WEEKLY;BYDAY=MO'] },
    },
    errors: [
      CALENDARS.notFound,
      Errors.forbidden,
      CalendarErrors.duplicateUid,
      CalendarErrors.eventExists,
      QuotaErrors.exceeded,
      CallErrors.serverNotConfigured,
      ...TIME_ERRORS,
    ],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateEvent) body: Checked<CreateEvent>,
  ) {
    return this.events.create(ctx, calendarId, key, body);
  }

  @Endpoint('POST events/batch', {
    id: 'batchEvents',
    summary: 'Change many events',
    description:
      'At most 500 operations in one transaction, each with a result. Without `atomic`, an operation that fails does not affect the others. Or an iCalendar file (`text/calendar`, at most 10 MiB and 20,000 events): its events are found by their UID. One that was not edited here since its last import is replaced. One that was edited takes the series, or single instances, that differ from the last imported file and whose LAST-MODIFIED (without it, DTSTAMP) is not before the edit; the rest stays (`older_version` in `warnings`), as it does with a file without these times. So a repeated import changes nothing and keeps edits. Events imported before this was recorded, and those created in another way, count as edited when they were changed last; each has a result with its UID as `client_id`; no message is sent to attendees. A file is written in transactions of 100 events; those before an error stay. Alarms become reminders before the start, also absolute ones of single events and those relative to the end; others, such as alarms after the start, are kept for programs of the user; an instance of a series has its own alarms, or none; and an event with `ACTION:NONE` or an alarm of a place has no reminders. A period of RDATE is an instance with its own length. `warnings` of a result name what the import assumed. A series that changes from one instance on (RANGE=THISANDFUTURE) for more than 1,000 instances is stored as two events, each with a result.',
    response: [EventBatchEnvelope, 'The results in the order of the operations.'],
    examples: {
      operations: {
        value: {
          operations: [{ op: 'create', client_id: 'a', event: { title: 'Planning', start: '2026-03-02' } }],
        },
      },
      events: { value: { events: [{ title: 'Planning', start: '2026-03-02' }], atomic: true } },
    },
    errors: [
      CALENDARS.notFound,
      Errors.forbidden,
      Errors.unsupportedMediaType,
      Errors.bodyTooLarge,
      ...UPLOAD_ERRORS,
      CalendarErrors.batchFailed,
      CalendarErrors.invalidIcs,
      CalendarErrors.tooManyEvents,
      QuotaErrors.exceeded,
    ],
  })
  @ApiConsumes('application/json', ICS_TYPE)
  @ApiBody({ required: true, type: BatchEvents })
  @StreamedBody(ICS_TYPE)
  @BodyLimit(BATCH_BODY_BYTES, BATCH_VALUES)
  runBatch(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(BatchEvents) body: Checked<BatchEvents>,
    @Form() form: UploadForm,
  ) {
    return mediaTypeOf(form.request) === ICS_TYPE
      ? this.imports.run(ctx, calendarId, form)
      : this.batches.run(ctx, calendarId, key, body);
  }

  @Endpoint('GET events/:event_id', {
    id: 'readEvent',
    summary: 'Read an event or an instance',
    description:
      'An instance of a series has the id of the series and its nominal start. The response contains details as far as the calendar is shared with you.',
    response: [EventEnvelope, 'The event.'],
    etag: 'event',
    errors: [EVENTS.notFound, CalendarErrors.notAnInstance],
  })
  read(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @EventId() ref: EventRef,
    @Query() query: ReadEvent,
  ) {
    return this.events.read(ctx, calendarId, ref, query);
  }

  @Endpoint('PUT events/:event_id', {
    id: 'updateEvent',
    summary: 'Update an event',
    description:
      'Only the given fields change. `scope` selects one instance, an instance and all later ones (the series is split), or all. A new start moves the instances: UNTIL, and the days and hours that a rule names, move with it, unless the request states the rules; `rule_not_moved` for a rule such as the second Monday of each month. Attendees change their own reminders, color and show_as. A new time resets the responses of attendees.',
    response: [UpdatedEventEnvelope, 'The event as it is now.'],
    etag: 'event',
    example: { title: 'Planning of 2027' },
    errors: [
      ...WRITE_ERRORS,
      CalendarErrors.notOrganizer,
      EVENTS.conflict!,
      CalendarErrors.duplicateUid,
      QuotaErrors.exceeded,
      CallErrors.serverNotConfigured,
      ...TIME_ERRORS,
      CalendarErrors.ruleNotMoved,
    ],
  })
  @Revisioned('event', { optional: true })
  update(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @EventId() ref: EventRef,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateEvent) body: Checked<UpdateEvent>,
  ) {
    return this.events.update(ctx, calendarId, ref, expected, body);
  }

  @Endpoint('DELETE events/:event_id', {
    id: 'deleteEvent',
    summary: 'Delete an event',
    description:
      'The organizer cancels the event for all attendees. An attendee declines the event and no longer sees it. `scope` is used as in updates.',
    response: [EVENTS.envelopes.deleted, 'The event as it was.'],
    optionalBody: true,
    examples: { none: { value: {} } },
    errors: [...WRITE_ERRORS, EVENTS.conflict!],
  })
  @Revisioned('event', { optional: true })
  async delete(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @EventId() ref: EventRef,
    @Expected() expected: ExpectedRevision,
    @Query() part: DeletedPart,
    @CheckedBody(DeleteEvent) body: Checked<DeleteEvent>,
  ) {
    const whole = await body.map(async (stated) => ({ ...part, ...stated }));
    return this.events.delete(ctx, calendarId, ref, expected, whole);
  }

  @Endpoint('PUT events/:event_id/rsvp', {
    id: 'respondToEvent',
    summary: 'Respond to an invitation',
    description: 'The response applies to one instance, to an instance and all later ones, or to all.',
    response: [EVENTS.envelopes.item, 'The event as it is now.'],
    etag: 'event',
    example: { response: 'accepted' },
    errors: [
      ...WRITE_ERRORS,
      CalendarErrors.notAttendee,
      CalendarErrors.eventCancelled,
      CalendarErrors.proposalsDisabled,
      CalendarErrors.sameTime,
    ],
  })
  respond(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @EventId() ref: EventRef,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(RespondToEvent) body: Checked<RespondToEvent>,
  ) {
    return this.rsvps.respond(ctx, calendarId, ref, key, body);
  }

  @Endpoint('POST events/:event_id/proposals', {
    id: 'proposeTime',
    summary: 'Propose another time, or decide about a proposal',
    description:
      'An attendee sends `start` and `end`. The organizer sends `proposal_id` and `action`: `accept` moves the event for all attendees. The author may `withdraw` a proposal.',
    response: [ProposalEnvelope, 'The new proposal.'],
    status: 201,
    unchanged: 'The proposal after the decision.',
    example: { start: '2026-03-02T11:00:00', end: '2026-03-02T12:00:00', comment: 'Later?' },
    errors: [
      ...WRITE_ERRORS,
      CalendarErrors.notAttendee,
      CalendarErrors.proposalNotFound,
      CalendarErrors.eventCancelled,
      CalendarErrors.proposalsDisabled,
      CalendarErrors.proposalClosed,
      CalendarErrors.sameTime,
      CalendarErrors.ruleNotMoved,
    ],
  })
  propose(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @EventId() ref: EventRef,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(ProposeTime) body: Checked<ProposeTime>,
  ) {
    return this.rsvps.propose(ctx, calendarId, ref, key, body);
  }
}
