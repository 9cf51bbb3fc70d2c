import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { PresenceApi } from '../../presence/index.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { cardOf, type ContactRow, photoUrl } from '../responses/contact.presenter.js';
import { departmentKey, queryTerms } from '../../../lib/contact-card/index.js';
import { isListed, type Listed } from '../contact-lists.statements.js';
import { ContactsRepository } from '../contacts.repository.js';
import type { ListDirectory } from './people.dto.js';
import type { DirectoryUserResponse, DirectoryUsersEnvelope } from './people.response.js';

/** The active members of the workspace, from their cards in its address book. */
@Injectable()
export class MemberDirectoryService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly presence: PresenceApi,
    private readonly cursors: Cursors,
  ) {}

  /** By name. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListDirectory): Promise<DirectoryUsersEnvelope> {
    const { q = '', department } = query;
    const books = { accessId: ctx.tenantId, bookId: ctx.tenantId };
    const keys = department === undefined ? [] : [departmentKey(department)];
    const filter = { prefixes: queryTerms(q), keys, kind: null, members: true };
    const { rows, next } = await this.cursors.page(query, {
      scope: `directory ${ctx.tenantId} ${JSON.stringify([q, department])}`,
      key: (row: Listed): [string, string] => [row.sort_key, row.id],
      fits: (row) => row.fits,
      rows: async (after, limit) => {
        const read = () => this.contacts.list(ctx, books, filter, 'name', after, limit);
        const found = await this.access.reading(ctx, ctx.tenantId, read);
        return found.filter(isListed);
      },
    });
    const presence = await this.presence.of(
      ctx,
      rows.map((row) => row.linked_user_id as string),
    );
    return { users: rows.map((row) => userOf(row, presence.get(row.linked_user_id as string))), next };
  }
}

function userOf(row: ContactRow, presence: DirectoryUserResponse['presence'] = null): DirectoryUserResponse {
  const { full_name, emails, job_title, organization, phones } = cardOf(row);
  return {
    id: row.linked_user_id as string,
    name: full_name ?? '',
    email: emails[0]?.value ?? '',
    job_title,
    department: organization?.units[0] ?? null,
    phones,
    photo_url: photoUrl(row),
    presence,
  };
}
