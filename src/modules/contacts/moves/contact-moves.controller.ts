import { Controller } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { ContactErrors } from '../contacts.errors.js';
import { CONTACTS, ExternalId } from '../contacts.resource.js';
import { MoveContact, MoveContacts } from './contact-moves.dto.js';
import { MovedContactsEnvelope } from './contact-moves.response.js';
import { ContactMovesService } from './contact-moves.service.js';

@Controller(CONTACTS.options.path)
export class ContactMovesController {
  constructor(private readonly moves: ContactMovesService) {}

  @Endpoint('POST :addressbook_id/contacts/:external_id/move', {
    tag: 'contacts',
    id: 'moveContact',
    summary: 'Move a contact to another address book',
    description: 'The contact keeps its id. The feed of the first address book delivers a removal.',
    response: [CONTACTS.envelopes.item, 'The contact in the target, or the contact it was merged into.'],
    etag: CONTACTS.kind,
    errors: [
      CONTACTS.notFound,
      ContactErrors.bookNotFound,
      Errors.forbidden,
      ContactErrors.duplicateExternalId,
      ContactErrors.bookFull,
    ],
  })
  move(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @CheckedBody(MoveContact) body: Checked<MoveContact>,
  ) {
    return this.moves.move(ctx, bookId, externalId, body);
  }

  @Endpoint('POST :id/move_contacts', {
    tag: 'contacts',
    id: 'moveContacts',
    summary: 'Move contacts out of an address book',
    description:
      'Moves the contacts in transactions of 200. After a failure, the contacts of the committed transactions remain in the target.',
    response: [MovedContactsEnvelope, 'The numbers of contacts, and those that stay.'],
    example: { target_addressbook_id: '01890a5d-ac96-774b-bcce-b302099a8057', contact_ids: ['phone-17'] },
    errors: [ContactErrors.bookNotFound, Errors.forbidden, ContactErrors.bookFull],
  })
  moveMany(
    @Ctx() ctx: RequestContext,
    @Id() bookId: string,
    @CheckedBody(MoveContacts) body: Checked<MoveContacts>,
  ): Promise<MovedContactsEnvelope> {
    return this.moves.moveMany(ctx, bookId, body);
  }
}
