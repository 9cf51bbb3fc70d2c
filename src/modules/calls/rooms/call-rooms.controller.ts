import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import {
  Idempotency,
  type IdempotencyKey,
  IdempotentWrites,
} from '../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { ChatApi, type MemberRoom } from '../../chat/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { CallAccess } from '../call-access.js';
import { CallServer } from '../call-server.js';
import { CallEnvelope, CallErrors, CallRoomEnvelope } from '../calls.dto.js';
import { CallsRepository } from '../calls.repository.js';
import { Call, CallMember, DEFAULT_CALL_TITLE } from '../calls.schema.js';
import { CallEnding, CallStarts } from '../changes/call-changes.js';
import { callReply, callRoomReply } from '../responses/call.presenter.js';
import { CreateCallRoom } from './call-rooms.dto.js';

/** Creates, reads and ends calls. */
@Injectable()
export class CallRoomsService {
  constructor(
    private readonly calls: CallsRepository,
    private readonly access: CallAccess,
    private readonly starts: CallStarts,
    private readonly ending: CallEnding,
    private readonly server: CallServer,
    private readonly chat: ChatApi,
    private readonly tenants: TenantsApi,
    private readonly writes: IdempotentWrites,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /**
   * Creates a call, or returns the live call of the room. A room has one live call: the row of the room is locked.
   * @throws ApiError 403 for `auto_record` without `calls.record`, 404 for an unknown room or member, 409
   *   `room_archived`, 422, 503 `call_server_not_configured`
   */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateCallRoom,
  ): Promise<JsonReply<CallRoomEnvelope>> {
    if (!this.server.isConfigured) throw CallErrors.serverNotConfigured.with();
    if (input.settings?.auto_record) await this.access.assertPermission(ctx, 'calls.record');
    const room = input.room_id === undefined ? undefined : await this.room(ctx, input.room_id);
    const title = input.title ?? room?.name ?? DEFAULT_CALL_TITLE;
    await this.checkMembers(ctx, input);
    return this.writes.runTx(ctx, key, async (tx) => {
      if (room && (await this.chat.lock(tx, ctx, room.id)) === null) throw CallErrors.roomNotFound.with();
      const existing = await this.existing(tx, ctx, input);
      if (existing !== undefined) return this.reply(tx, ctx, existing, 200);
      await this.calls.openQuota.take(tx, ctx.tenantId, ctx.userId);
      const id = await this.insert(tx, ctx, { ...input, title });
      if (id !== null) return this.reply(tx, ctx, id, 201);
      // A concurrent request with the same client_id has created the call.
      return this.reply(tx, ctx, (await this.existing(tx, ctx, input)) as string, 200);
    });
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, callId: string): Promise<JsonReply<CallEnvelope>> {
    const { call } = await this.access.read(ctx, callId);
    return callReply(call);
  }

  /** Disconnects all participants. Does nothing to a call that has ended. @throws ApiError 404, 403 */
  async end(ctx: RequestContext, callId: string): Promise<JsonReply<CallEnvelope>> {
    await this.access.moderate(ctx, callId);
    await this.ending.end({ tenantId: ctx.tenantId, callId }, { actor: ctx });
    return this.read(ctx, callId);
  }

  private async room(ctx: RequestContext, id: string): Promise<MemberRoom> {
    const room = await this.chat.room(ctx, id.toLowerCase());
    if (!room) throw CallErrors.roomNotFound.with();
    if (room.archived) throw CallErrors.roomArchived.with();
    return room;
  }

  private async checkMembers(ctx: RequestContext, { room_id, member_ids = [] }: CreateCallRoom) {
    if (member_ids.length === 0) return;
    if (room_id !== undefined)
      throw fieldError('member_ids', 'room_members', 'the members of the room may join: omit member_ids');
    const memberIds = await this.tenants.findActiveMembers(this.db, ctx.tenantId, member_ids);
    const unknown = member_ids.find((id) => !memberIds.has(id));
    if (unknown !== undefined)
      throw CallErrors.userNotFound.with({ message: `${unknown} is not an active member of the workspace.` });
  }

  /** The existing call for a request: the one with its client_id, or the live call of its room. */
  private async existing(
    tx: Tx,
    { tenantId, userId: hostId }: RequestContext,
    { client_id, room_id, scheduled_at }: CreateCallRoom,
  ): Promise<string | undefined> {
    const repeated =
      client_id && (await rowsOf(tx, Call).one({ tenant_id: tenantId, host_id: hostId, client_id }));
    if (repeated) return repeated.id;
    if (room_id === undefined || isLater(scheduled_at)) return undefined;
    return (await this.calls.activeIn(tx, { tenantId }, room_id))?.id;
  }

  private async insert(
    tx: Tx,
    ctx: RequestContext,
    input: CreateCallRoom & { title: string },
  ): Promise<string | null> {
    const { title, kind } = input;
    const [roomId, clientId] = [input.room_id ?? null, input.client_id ?? null];
    const { tenantId, userId: hostId } = ctx;
    const { lobby, otp, guest_chat, auto_record } = input.settings ?? {};
    const scheduled = isLater(input.scheduled_at);
    const made = await rowsOf(tx, Call).insert({
      tenant_id: tenantId,
      id: uuidv7(),
      title,
      kind,
      room_id: roomId,
      client_id: clientId,
      host_id: hostId,
      state: 'scheduled',
      scheduled_at: input.scheduled_at ?? null,
      ...(lobby !== undefined && { lobby }),
      ...(otp !== undefined && { otp }),
      ...(guest_chat !== undefined && { guest_chat }),
      ...(auto_record !== undefined && { auto_record }),
    });
    if (!made) return null;
    const callId = made.id;
    for (const userId of input.member_ids ?? [])
      await rowsOf(tx, CallMember).insert({ tenant_id: tenantId, call_id: callId, user_id: userId });
    const data = { room_id: roomId, title, kind, scheduled };
    await this.audit.record(tx, ctx, { action: 'call.created', objectKind: 'call', objectId: callId, data });
    if (!scheduled) await this.starts.startIn(tx, ctx, { tenantId, callId });
    return callId;
  }

  /** @throws ApiError 404 for the call of a `client_id` whose room the caller has left */
  private async reply(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    status: 200 | 201,
  ): Promise<JsonReply<CallRoomEnvelope>> {
    const shown = await this.calls.read(ctx, id, tx);
    if (!shown) throw CallErrors.callNotFound.with();
    return callRoomReply(shown.call, {
      status,
      ...(status === 201 && { location: `/apis/v1/call/${id}` }),
    });
  }
}

const isLater = (time: Date | undefined): boolean => time !== undefined && time.getTime() > Date.now();

@ApiTags('meetings')
@Controller('call')
export class CallRoomsController {
  constructor(private readonly rooms: CallRoomsService) {}

  @Endpoint('POST rooms', {
    id: 'createCallRoom',
    summary: 'Create or find a call',
    description:
      'With `room_id`: the live call of that chat room, or a new one. A room has one live call. The members of the room may join; the room shows the call as a message of the kind `call`. To join, mint a token.',
    status: 201,
    location: true,
    response: [CallRoomEnvelope, 'The new call.'],
    unchanged: 'The live call of the room, or the call with the same `client_id`.',
    example: { title: 'Offsite 2027', settings: { lobby: true, otp: true } },
    errors: [
      QuotaErrors.exceeded,
      CallErrors.callNotFound,
      CallErrors.roomNotFound,
      CallErrors.userNotFound,
      CallErrors.roomArchived,
      CallErrors.serverNotConfigured,
    ],
  })
  @Requires('calls.start')
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateCallRoom,
  ) {
    return this.rooms.create(ctx, key, body);
  }

  @Endpoint('GET :call_id', {
    id: 'readCall',
    summary: 'Read a call',
    description: 'For users who may join the call, also after its end.',
    response: [CallEnvelope, 'The call.'],
    errors: [CallErrors.callNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id('call_id') callId: string) {
    return this.rooms.read(ctx, callId);
  }

  @Endpoint('POST :call_id/end', {
    id: 'endCall',
    summary: 'End a call for all participants',
    description:
      'For the host, moderators of the room, and members with the permission `calls.moderate`. Does nothing to a call that has ended.',
    status: 200,
    response: [CallEnvelope, 'The ended call.'],
    errors: [CallErrors.callNotFound, Errors.forbidden],
  })
  end(@Ctx() ctx: RequestContext, @Id('call_id') callId: string) {
    return this.rooms.end(ctx, callId);
  }
}
