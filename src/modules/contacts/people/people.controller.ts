import { Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Revisioned } from '../../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import {
  DirectoryUsersEnvelope,
  ListDirectory,
  SelfCardQrQuery,
  SelfCardQuery,
  UpdateSelf,
} from './people.dto.js';
import { MemberDirectoryService, SelfCardService, SelfService } from './people.service.js';

@Controller('contact')
export class PeopleController {
  constructor(
    private readonly self: SelfService,
    private readonly directory: MemberDirectoryService,
  ) {}

  @Endpoint('GET self', {
    tag: 'contacts',
    id: 'readSelf',
    summary: 'Read your own card',
    description: 'Your card in the address book of the workspace, as all members see it.',
    response: [CONTACTS.envelopes.item, 'Your card.'],
    etag: CONTACTS.kind,
  })
  read(@Ctx() ctx: RequestContext) {
    return this.self.read(ctx);
  }

  @Endpoint('PUT self', {
    tag: 'contacts',
    id: 'updateSelf',
    summary: 'Update your own card',
    description:
      'Missing fields stay as they are. Name, title, first telephone number, time zone and language are those of your profile and change there too. Your address in the workspace stays the first one.',
    response: [CONTACTS.envelopes.item, 'Your card as it is now.'],
    etag: CONTACTS.kind,
    example: { nicknames: ['Al'], organization: { name: 'Demo', units: ['Research'] } },
    errors: [CONTACTS.conflict!, ContactErrors.fieldLocked],
  })
  @Revisioned(CONTACTS.kind, { optional: true, idInPath: false })
  update(
    @Ctx() ctx: RequestContext,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateSelf) body: Checked<UpdateSelf>,
  ) {
    return this.self.update(ctx, expected, body);
  }

  @Endpoint('GET directory', {
    tag: 'contacts',
    id: 'listDirectory',
    summary: 'List or search the members of the workspace',
    description: 'Active members by name, with title, department and telephone numbers of their cards.',
    response: [DirectoryUsersEnvelope, 'A page of members.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListDirectory): Promise<DirectoryUsersEnvelope> {
    return this.directory.list(ctx, query);
  }
}

@Controller('contact/self/card')
export class SelfCardController {
  constructor(private readonly cards: SelfCardService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'downloadSelfCard',
    summary: 'Download your own card',
    description: 'Your card in the address book of the workspace as a vCard file.',
    errors: [CONTACTS.notFound],
  })
  @ApiFile('text/vcard', 'The vCard.')
  download(@Ctx() ctx: RequestContext, @Query() query: SelfCardQuery): Promise<BodyReply> {
    return this.cards.download(ctx, query);
  }

  @Endpoint('GET qr', {
    tag: 'contacts',
    id: 'readSelfCardQrCode',
    summary: 'Read a QR code of your own card',
    description:
      'A picture for the camera of a phone. A long card is reduced to name, work, addresses and numbers.',
    errors: [CONTACTS.notFound],
  })
  @ApiFile('image/*', 'The picture, PNG or SVG.')
  qrCode(@Ctx() ctx: RequestContext, @Query() query: SelfCardQrQuery): Promise<BodyReply> {
    return this.cards.qrCode(ctx, query);
  }
}
