import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { Errors } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';

/** The two trees of routes: invites to calls, and invites to one chat room. */
export const INVITE_TREES = {
  call: { path: 'call/external_invites', suffix: '' },
  chat_room: { path: 'chat/rooms/:chat_room_id/external_invites', suffix: 'OfRoom' },
} as const;

export type InviteTree = keyof typeof INVITE_TREES;

/** Injects the tree of a route: its room, or null for calls. */
export const Scope = createParamDecorator(
  (_: unknown, context: ExecutionContext): { roomId: string | null } => {
    const { chat_room_id: id } = context.switchToHttp().getRequest<Request>().params;
    if (id === undefined) return { roomId: null };
    if (!isUuid(id)) throw Errors.invalidId.with();
    return { roomId: id.toLowerCase() };
  },
);

/** Documents the parameter of {@link Scope}. */
export const ScopeParam = (tree: InviteTree): MethodDecorator =>
  tree === 'call'
    ? applyDecorators()
    : ApiParam({
        name: 'chat_room_id',
        description: 'Id of the chat room, a UUID.',
        schema: { type: 'string', format: 'uuid', examples: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
      });
