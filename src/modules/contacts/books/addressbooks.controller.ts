import { Body, Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { ContactErrors } from '../contacts.errors.js';
import { CreateAddressbook, UpdateAddressbook } from './addressbooks.dto.js';
import { ADDRESSBOOKS } from './addressbooks.resource.js';
import { AddressbooksService } from './addressbooks.service.js';

@Controller(ADDRESSBOOKS.options.path)
export class AddressbooksController {
  constructor(private readonly books: AddressbooksService) {}

  @ListOperation(ADDRESSBOOKS, {
    summary: 'List your address books',
    description:
      'Your own and those shared with you, oldest first. The first list creates your default address book.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery) {
    return this.books.list(ctx, query);
  }

  @CreateOperation(ADDRESSBOOKS, {
    description: 'You become its owner. `shares` gives other users access from the start.',
    errors: [ContactErrors.unknownUser, ContactErrors.tooManyBooks],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateAddressbook,
  ) {
    return this.books.create(ctx, key, body);
  }

  @ReadOperation(ADDRESSBOOKS, { description: 'Your own, or one that is shared with you, with your role.' })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.books.read(ctx, id);
  }

  @UpdateOperation(ADDRESSBOOKS, {
    summary: 'Update or share an address book',
    description:
      'Missing fields stay as they are. Only for the owner; the address book of the workspace needs the permission `contacts.global.manage`.',
    example: { name: 'Customers and partners' },
    methods: ['PUT'],
    errors: [Errors.forbidden, ContactErrors.unknownUser],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateAddressbook) body: Checked<UpdateAddressbook>,
  ) {
    return this.books.update(ctx, id, expected, body);
  }

  @DeleteOperation(ADDRESSBOOKS, {
    description:
      'The owner deletes the address book with its contacts. A user with whom it is shared leaves it.',
    errors: [Errors.forbidden, ContactErrors.defaultBook],
  })
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Expected() expected: ExpectedRevision) {
    return this.books.delete(ctx, id, expected);
  }
}

@Controller('contact/useraddressbooks')
export class UserAddressbooksController {
  constructor(private readonly books: AddressbooksService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'listUserAddressbooks',
    summary: 'List all address books that you see',
    description:
      'Your own, those shared with you, and that of the workspace, with your role in each. One page.',
    response: [ADDRESSBOOKS.envelopes.list, 'The address books.'],
  })
  all(@Ctx() ctx: RequestContext) {
    return this.books.all(ctx);
  }
}
