import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME } from '../field-docs/field-docs.js';

export class FieldProblemResponse {
  /** @example "title" */ field!: string;
  /** @example "max_length" */ code!: string;
  /** @example "title must be shorter than or equal to 512 characters" */ message!: string;
}

/** The shape of every error response. The derived schemas have additional members. */
export class ErrorResponse {
  /** A stable code for programs. @example "validation_failed" */ error!: string;
  /** A description for developers. May change. @example "Some fields are invalid; see details." */
  message!: string;
  details?: FieldProblemResponse[];
}

/** 409 `deleted`: the object is in the trash. */
export class DeletedErrorResponse extends ErrorResponse {
  @ApiProperty({ enum: ['deleted'], example: 'deleted' }) override error!: 'deleted';
  @ApiProperty({ type: 'integer', minimum: 1, example: 3, description: 'The revision of the object.' })
  revision!: number;
  @ApiProperty(DATE_TIME) deleted_at!: string;
}
