import { ApiProperty } from '@nestjs/swagger';
import { exampleOf } from '../../../platform/resources/example.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { RevisionedFields } from '../../../platform/resources/item.response.js';
import { BOOK_KINDS, type BookKind, CONTACT_FIELDS } from '../contacts.entity.js';

export class AddressbookOwnerResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ name!: string;
  /** @example "alice@demo.example" */ email!: string;
}

export class AddressbookShareResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "Bob Okafor" */ name!: string;
  /** @example "bob@demo.example" */ email!: string;
  @ApiProperty({ enum: ['reader', 'writer'], example: 'reader' }) role!: 'reader' | 'writer';
}

/** An address book as the caller sees it. */
export class AddressbookResponse extends RevisionedFields {
  /** @example "Contacts" */ name!: string;
  @ApiProperty({ example: '' }) description!: string;
  /** @example "#2f80ed" */ color!: string | null;
  /**
   * `personal`: your own; `shared`: shared with you by another user; `global`: that of the workspace; `collected`: your own, to
   * which the server adds recipients of your messages and participants of your events.
   */
  @ApiProperty({ enum: [...BOOK_KINDS, 'shared'], example: 'personal' }) kind!: BookKind | 'shared';
  /** @example true */ is_default!: boolean;
  @ApiProperty({ enum: ['owner', 'writer', 'reader'], example: 'owner' })
  role!: 'owner' | 'writer' | 'reader';
  /** Null for the address book of the workspace. */
  @ApiProperty({
    type: AddressbookOwnerResponse,
    nullable: true,
    example: exampleOf(AddressbookOwnerResponse),
  })
  owner!: AddressbookOwnerResponse | null;
  /** Other users with access. Only for the owner. */ shares!: AddressbookShareResponse[];
  /** Country of telephone numbers without an international prefix. @example "CZ" */
  default_country!: string | null;
  /** Fields that members may not change on their own card. Only in the address book of the workspace. */
  @ApiProperty({ enum: CONTACT_FIELDS, isArray: true, example: [] }) locked_fields!: string[];
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) contacts_count!: number;
}
