import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { CallsApi } from '../../calls/index.js';
import type { EventContent, EventRecord } from '../model/event-record.js';
import { instantOf, wallOf } from '../model/event-times.js';
import type { EventChange } from './event-write.js';

/** The kind of conference that is a call of this workspace. */
const CALL = 'call';

/** The conference of a copy of an event. The copy gets a call of its own, because a call ends with its event. */
export const withoutCall = (conference: EventRecord['conference']): EventRecord['conference'] =>
  conference?.kind === CALL ? { ...conference, url: null, room_id: null } : conference;

/** The content of a request. An event that has a call keeps it. */
export function withCallOf(
  { conference: currentCall }: EventRecord,
  content: Partial<EventContent>,
): Partial<EventContent> {
  return content.conference?.kind === CALL && currentCall?.kind === CALL
    ? { ...content, conference: currentCall }
    : content;
}

/** Calls of events: created with the event, joined by its attendees of the workspace, closed with it. */
@Injectable()
export class EventCalls {
  constructor(private readonly calls: CallsApi) {}

  /** @returns the change with the call of its event. @throws ApiError 503 `call_server_not_configured` */
  async apply(tx: Tx, ctx: RequestContext, change: EventChange): Promise<EventChange> {
    const { before, record } = change;
    const currentId = before?.conference?.kind === CALL ? before.conference.room_id : null;
    const isWanted = record.conference?.kind === CALL && change.action !== 'deleted';
    if (!isWanted) {
      if (currentId !== null) await this.calls.close(tx, ctx, currentId);
      return change;
    }
    const callId = record.conference?.room_id ?? currentId ?? (await this.create(tx, ctx, change));
    const userIds = record.participants.flatMap(({ user_id }) => user_id ?? []);
    await this.calls.setMembers(tx, ctx, callId, [...new Set([...userIds, ...ownerOf(record.organizer_id)])]);
    const conference = { kind: CALL, url: this.calls.urlOf(callId), room_id: callId };
    return { ...change, record: { ...record, conference } };
  }

  private async create(tx: Tx, ctx: RequestContext, { record }: EventChange): Promise<string> {
    const start = instantOf(wallOf(record.starts), record.time_zone);
    const scheduledAt = new Date(start * 1000);
    return this.calls.create(tx, ctx, { title: record.title, scheduledAt });
  }
}

const ownerOf = (userId: string | null): string[] => (userId === null ? [] : [userId]);
