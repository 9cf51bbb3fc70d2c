import { Controller } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import {
  DuplicatesEnvelope,
  FindDuplicates,
  MergeContacts,
  MergedContactEnvelope,
  UnmergedContactsEnvelope,
} from './duplicates.dto.js';
import { DuplicatesService } from './duplicates.service.js';

@Controller('contact')
export class DuplicatesController {
  constructor(private readonly duplicates: DuplicatesService) {}

  @Endpoint('POST duplicates', {
    tag: 'contacts',
    id: 'findDuplicateContacts',
    work: 'long',
    summary: 'Find contacts that may be the same person',
    description:
      'Our addition. Groups of contacts of one address book with a common e-mail address, telephone number or name. Groups of more than 20 contacts by one key are omitted.',
    response: [DuplicatesEnvelope, 'The groups.'],
    errors: [ContactErrors.bookNotFound],
  })
  find(@Ctx() ctx: RequestContext, @CheckedBody(FindDuplicates) body: Checked<FindDuplicates>) {
    return this.duplicates.find(ctx, body);
  }

  @Endpoint('POST merges', {
    tag: 'contacts',
    id: 'mergeContacts',
    summary: 'Merge contacts of one address book',
    description: 'Our addition. A group is merged with groups only. The merge can be undone.',
    response: [MergedContactEnvelope, 'The merged contact.'],
    etag: CONTACTS.kind,
    errors: [CONTACTS.notFound, ContactErrors.bookNotFound, Errors.forbidden],
  })
  merge(@Ctx() ctx: RequestContext, @CheckedBody(MergeContacts) body: Checked<MergeContacts>) {
    return this.duplicates.merge(ctx, body);
  }

  @Endpoint('POST merges/:merge_id/undo', {
    tag: 'contacts',
    id: 'undoContactMerge',
    summary: 'Separate merged contacts again',
    description:
      'Our addition. For the user who merged them, within 30 days, as long as the merged contact is not changed.',
    response: [UnmergedContactsEnvelope, 'The contacts as before the merge.'],
    errors: [ContactErrors.mergeNotFound, CONTACTS.notFound, Errors.forbidden, ContactErrors.mergeBlocked],
  })
  undo(@Ctx() ctx: RequestContext, @Id('merge_id') mergeId: string) {
    return this.duplicates.undo(ctx, mergeId);
  }
}
