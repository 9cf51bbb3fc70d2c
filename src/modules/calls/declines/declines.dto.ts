import { ApiProperty } from '@nestjs/swagger';
import { Uuid } from '../../../platform/http/input.decorators.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** `call.decline` */
export class SocketDeclineCall {
  @Uuid({ example: ID }) call_id!: string;
}

export class DeclinedCallResponse {
  @ApiProperty({ format: 'uuid', example: ID }) call_id!: string;
  /** The user who declined. */
  @ApiProperty({ format: 'uuid', example: ID }) user_id!: string;
}
