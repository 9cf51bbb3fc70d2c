import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsObject } from 'class-validator';
import { Optional, Text } from '../../../platform/http/input.decorators.js';

/** One change of a client, in a batch or a synchronisation. The single request validates `base_revision` and `event`. */
export class ClientChangeFields {
  /**
   * Returned with the result. In a synchronisation also the uid of a new event without one, so that a repeated request creates no
   * second event.
   */
  @Optional() @Text(200, { minLength: 1, example: 'local-1' }) client_id?: string;
  /** The event to update or delete. For a creation in a batch: the id of the new event. */
  @Optional() @Text(100, { minLength: 1, example: '01890a5d-ac96-774b-bcce-b302099a8057' }) event_id?: string;
  /** The revision that the client changed. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 }) @Allow() base_revision?: number;

  /** The fields of the single request; in a synchronisation also `scope` and `recurrence_id`. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { title: 'Planning', start: '2026-03-02' },
  })
  @Optional()
  @IsObject()
  event?: object;
}
