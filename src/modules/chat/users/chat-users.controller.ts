import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { foldWords } from '../../tenants/index.js';
import { ListChatUsers } from './chat-users.dto.js';
import { type ChatUser, ChatUsersRepository } from './chat-users.repository.js';
import { ChatUserListEnvelope, OwnChatUserEnvelope } from './chat-users.response.js';

/** Further words of a query are ignored. */
const MAX_WORDS = 6;

@ApiTags('chat')
@Controller('chat')
export class ChatUsersController {
  constructor(
    private readonly users: ChatUsersRepository,
    private readonly cursors: Cursors,
  ) {}

  @Endpoint('GET user', {
    id: 'readChatUser',
    summary: 'Read yourself as a chat user',
    description: 'Your name and presence as other users see them, and your unread messages in all rooms.',
    response: [OwnChatUserEnvelope, 'You, with the number of unread messages.'],
  })
  async own(@Ctx() ctx: RequestContext): Promise<OwnChatUserEnvelope> {
    return { user: { ...(await this.users.own(ctx)), avatar_url: null } };
  }

  @Endpoint('GET users', {
    id: 'listChatUsers',
    summary: 'List the users you can chat with',
    description: 'Active members of the workspace, by name.',
    response: [ChatUserListEnvelope, 'A page of users.'],
  })
  async list(@Ctx() ctx: RequestContext, @Query() query: ListChatUsers): Promise<ChatUserListEnvelope> {
    const words = foldWords(query.q ?? '')
      .split(' ')
      .filter(Boolean)
      .slice(0, MAX_WORDS);
    const { rows, next } = await this.cursors.page(query, {
      scope: `chat_users ${ctx.tenantId} ${words.join(' ')}`,
      key: (user: ChatUser): [string, string] => [user.display_name, user.id],
      rows: (after, limit) => this.users.list(ctx, words, after, limit),
    });
    return { users: rows.map((user) => ({ ...user, avatar_url: null })), next };
  }
}
