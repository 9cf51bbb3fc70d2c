import { ApiProperty } from '@nestjs/swagger';
import { Uuid } from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';

/** `call.decline` */
export class SocketDeclineCall {
  @Uuid({ example: EXAMPLE_ID }) call_id!: string;
}

export class DeclinedCallResponse {
  @ApiProperty(UUID) call_id!: string;
  /** The user who declined. */
  @ApiProperty(UUID) user_id!: string;
}
