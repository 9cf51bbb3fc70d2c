import { ApiProperty } from '@nestjs/swagger';

export class FieldProblemResponse {
  /** @example "title" */
  field!: string;
  /** @example "max_length" */
  code!: string;
  /** @example "title must be shorter than or equal to 512 characters" */
  message!: string;
}

/** Every answer other than success has this shape; some carry further members, as the schemas made of it say. */
export class ErrorResponse {
  /**
   * Stable, for programs.
   * @example "validation_failed"
   */
  error!: string;
  /**
   * For people; may change.
   * @example "Some fields are wrong; see details."
   */
  message!: string;
  details?: FieldProblemResponse[];
}

/** 409 `deleted`: the object is in the trash. */
export class DeletedErrorResponse extends ErrorResponse {
  @ApiProperty({ enum: ['deleted'], example: 'deleted' }) override error!: 'deleted';
  @ApiProperty({ type: 'integer', minimum: 1, example: 3, description: 'That of the object.' })
  revision!: number;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) deleted_at!: string;
}
