import { Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import { ContactErrors } from '../contacts.resource.js';
import {
  ADDRESSBOOKS,
  CreateAddressbook,
  ListAllAddressbooks,
  UpdateAddressbook,
} from './addressbooks.dto.js';
import { AddressbooksService } from './addressbooks.service.js';

@Controller(ADDRESSBOOKS.options.path)
export class AddressbooksController extends ResourceController(ADDRESSBOOKS, AddressbooksService, {
  list: {
    query: PageQuery,
    summary: 'List your address books',
    description:
      'Your own and those shared with you, oldest first. The first list creates your default address book.',
  },
  create: {
    body: CreateAddressbook,
    description: 'You become its owner. `shares` gives other users access from the start.',
    errors: [ContactErrors.unknownUser, ContactErrors.tooManyBooks],
  },
  read: { description: 'Your own, or one that is shared with you, with your role.' },
  update: {
    body: UpdateAddressbook,
    summary: 'Update or share an address book',
    description:
      'Missing fields stay as they are. Only for the owner; the address book of the workspace needs the permission `contacts.global.manage`.',
    example: { name: 'Customers and partners' },
    methods: ['PUT'],
    errors: [Errors.forbidden, ContactErrors.unknownUser],
  },
  delete: {
    description:
      'The owner deletes the address book with its contacts. A user with whom it is shared leaves it.',
    errors: [Errors.forbidden, ContactErrors.defaultBook],
  },
}) {}

@Controller('contact/useraddressbooks')
export class UserAddressbooksController {
  constructor(private readonly books: AddressbooksService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'listUserAddressbooks',
    summary: 'List all address books that you see',
    description:
      'Your own, those shared with you, and that of the workspace, with your role in each: up to 1,000 in a page.',
    response: [ADDRESSBOOKS.envelopes.list, 'The address books.'],
  })
  listAll(@Ctx() ctx: RequestContext, @Query() query: ListAllAddressbooks) {
    return this.books.listAll(ctx, query);
  }
}
