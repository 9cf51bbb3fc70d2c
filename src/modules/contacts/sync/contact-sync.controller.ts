import { Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { DisconnectSignal } from '../../../platform/http/abort-signal.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/feed.dto.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import {
  AppliedContactChangesEnvelope,
  ApplyContactChanges,
  ContactChangesEnvelope,
  SyncContacts,
} from './contact-sync.dto.js';
import { ContactSyncService } from './contact-sync.service.js';

const SYNC = ':addressbook_id/contacts/sync';
const BODY_BYTES = 8 * 1024 * 1024;
/** 500 changes, each with 100 values on average. */
const BODY_VALUES = 50_000;

@Controller(CONTACTS.options.path)
export class ContactSyncController {
  constructor(private readonly sync: ContactSyncService) {}

  @Endpoint(`GET ${SYNC}`, {
    tag: 'contacts',
    id: 'contactChanges',
    summary: 'List the changes of an address book since a cursor',
    description:
      'Changed contacts in their current state, each once, and removals. Without a cursor: all contacts.',
    response: [ContactChangesEnvelope, 'A page of changes.'],
    errors: [ContactErrors.bookNotFound, CURSOR_EXPIRED],
  })
  changes(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @Query() query: SyncContacts,
    @DisconnectSignal() disconnected: AbortSignal,
  ) {
    return this.sync.changes(ctx, bookId, query, disconnected);
  }

  @Endpoint(`POST ${SYNC}`, {
    tag: 'contacts',
    id: 'applyContactChanges',
    summary: 'Synchronise an address book in both directions',
    description:
      'Applies up to 500 changes of a client and returns those of the server since the cursor, which contain the contacts that this request wrote. A repeated request, e.g. after a lost response, changes nothing further.',
    response: [
      AppliedContactChangesEnvelope,
      'The results of the changes, and a page of changes of the server.',
    ],
    errors: [ContactErrors.bookNotFound, Errors.forbidden, CURSOR_EXPIRED],
  })
  @BodyLimit(BODY_BYTES, BODY_VALUES)
  apply(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @CheckedBody(ApplyContactChanges) body: Checked<ApplyContactChanges>,
    @DisconnectSignal() disconnected: AbortSignal,
  ) {
    return this.sync.apply(ctx, bookId, body, disconnected);
  }
}
