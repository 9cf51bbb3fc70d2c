import { Controller, Headers, Query } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { FILE_NAME, revisionHeader } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { DeleteOperation, UpdateOperation } from '../../../platform/resources/operations.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import type { EnvelopeOf } from '../../../platform/resources/resource.js';
import { ContactFormatsService, ContactListsService } from './contact-lists.service.js';
import { CreateContact, ListContacts, UpdateContact } from '../input/contact.dto.js';
import { CreatedContactEnvelope, ListedContactsEnvelope } from '../responses/contact.response.js';
import { ContactErrors, CONTACTS, ExternalId } from '../contacts.resource.js';
import { ContactsService } from './contacts.service.js';

const LIST = ':addressbook_id/contacts';
const ITEM = `${LIST}/:external_id`;
const CREATE_EXAMPLE = {
  name: { given: 'Maria', family: 'Silva' },
  emails: ['maria@example.com'],
  phones: [{ value: '+420 601 123 456', types: ['cell'] }],
};

@Controller(CONTACTS.options.path)
export class ContactsController {
  constructor(
    private readonly contacts: ContactsService,
    private readonly lists: ContactListsService,
    private readonly cards: ContactFormatsService,
  ) {}

  @Endpoint(`GET ${LIST}`, {
    tag: 'contacts',
    id: 'listContacts',
    summary: 'List or search the contacts of an address book',
    description:
      'By name. `q` matches the beginnings of words in any script, ignores case and accents, and finds digits of telephone numbers.',
    response: [ListedContactsEnvelope, 'A page of contacts.'],
    errors: [ContactErrors.bookNotFound],
  })
  list(@Ctx() ctx: RequestContext, @Id('addressbook_id') bookId: string, @Query() query: ListContacts) {
    return this.lists.list(ctx, bookId, query);
  }

  @Endpoint('GET :addressbook_id/global', {
    tag: 'contacts',
    id: 'listGlobalContacts',
    summary: 'List or search the address book of the workspace',
    description:
      'The cards of all active members, and the cards that the workspace adds. `addressbook_id` is any address book that you see.',
    response: [ListedContactsEnvelope, 'A page of contacts.'],
    errors: [ContactErrors.bookNotFound],
  })
  listGlobal(@Ctx() ctx: RequestContext, @Id('addressbook_id') bookId: string, @Query() query: ListContacts) {
    return this.lists.listGlobal(ctx, bookId, query);
  }

  @Endpoint(`POST ${LIST}`, {
    tag: 'contacts',
    id: 'createContact',
    summary: 'Create a contact',
    description:
      'Needs a name, an organization, an e-mail address or a telephone number. With `on_duplicate` `merge`, the response may be the existing contact.',
    errors: [
      ContactErrors.bookNotFound,
      Errors.forbidden,
      ContactErrors.duplicateExternalId,
      ContactErrors.duplicateUid,
      ContactErrors.duplicateContact,
      ContactErrors.bookFull,
    ],
    status: 201,
    response: [CreatedContactEnvelope, 'The new contact.'],
    unchanged: 'The existing contact, with the fields of the request.',
    etag: CONTACTS.kind,
    example: CREATE_EXAMPLE,
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Id('addressbook_id') bookId: string,
    @CheckedBody(CreateContact) body: Checked<CreateContact>,
  ) {
    return this.contacts.create(ctx, key, bookId, body);
  }

  @Endpoint<EnvelopeOf<typeof CONTACTS, 'item'>, BodyReply>(`GET ${ITEM}`, {
    tag: 'contacts',
    id: 'readContact',
    summary: 'Read a contact',
    description:
      'With `Accept: text/vcard` as vCard 3.0, with `text/vcard; version=4.0` as vCard 4.0, with `application/jscontact+json` as JSContact (RFC 9553).',
    errors: [CONTACTS.notFound, ContactErrors.bookNotFound],
  })
  @ApiExtraModels(CONTACTS.envelopes.item)
  @ApiResponse({
    status: 200,
    description: 'The contact. A vCard has a file name.',
    headers: { ...revisionHeader(CONTACTS.kind), ...FILE_NAME },
    content: {
      'application/json': { schema: { $ref: getSchemaPath(CONTACTS.envelopes.item) } },
      'text/vcard': { schema: { type: 'string' } },
      'application/jscontact+json': { schema: { type: 'object' } },
    },
  })
  read(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Headers('accept') accept: string | undefined,
  ) {
    return this.cards.read(ctx, bookId, externalId, accept);
  }

  @UpdateOperation(CONTACTS, {
    description:
      'Missing fields stay as they are, null and empty lists clear a field. A request without a difference changes nothing.',
    example: { job_title: 'Head of Research', base_revision: 1 },
    methods: ['PUT'],
    path: ITEM,
    errors: [ContactErrors.bookNotFound, Errors.forbidden],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateContact) body: Checked<UpdateContact>,
  ) {
    return this.contacts.update(ctx, bookId, externalId, expected, body);
  }

  @DeleteOperation(CONTACTS, {
    description:
      'Permanently: contacts have no trash. For the owner of the address book and users who may write to it.',
    path: ITEM,
    errors: [ContactErrors.bookNotFound, Errors.forbidden],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Expected() expected: ExpectedRevision,
  ) {
    return this.contacts.delete(ctx, bookId, externalId, expected);
  }
}
