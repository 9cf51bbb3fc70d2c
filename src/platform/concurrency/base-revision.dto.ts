import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';

/** A body that may name the revision that the caller read. The revision interceptor checks it. */
export class BaseRevision {
  /** The revision you read: a write fails with 409 when there is a newer one. Or send `If-Match`. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 }) @Allow() base_revision?: number;
}
