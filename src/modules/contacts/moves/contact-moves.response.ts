import { ApiProperty } from '@nestjs/swagger';

export class MoveErrorResponse {
  /** @example "phone-17" */ external_id!: string;
  /** @example "not_found" */ error!: string;
}

export class MovedContactsEnvelope {
  /** Number of moved contacts, merged ones included. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 2 }) moved!: number;
  /** The external_ids of contacts that were not moved, because the target has a contact with the same external_id or uid; 1,000 at most. */
  @ApiProperty({ example: [] }) skipped!: string[];
  /** 1,000 at most. */
  errors!: MoveErrorResponse[];
  /** With `all`: the address book had more contacts than one request moves. @example false */ more!: boolean;
}
