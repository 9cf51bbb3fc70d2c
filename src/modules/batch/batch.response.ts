import { ApiProperty } from '@nestjs/swagger';

/** The response to one request of the batch. */
export class BatchItemResponse {
  /** The `id` of the request, if it has one. */
  @ApiProperty({ required: false, example: 'edit-1' }) id?: string;

  @ApiProperty({ type: 'integer', minimum: 200, maximum: 599, example: 200 }) status!: number;

  /** The headers `ETag`, `Location`, `Retry-After` and `X-Request-Id` of the response, if present. Names are in lower case. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { etag: '"note:01890a5d-ac96-774b-bcce-b302099a8057:r4"' },
  })
  headers!: Record<string, string>;

  /** The JSON body, exactly as for a single request. Null for a response without a body, and with `Prefer: return=minimal`. */
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    example: { notes: [], next: null },
  })
  body!: unknown;
}

export class BatchEnvelope {
  /** One for each request, in the order of the requests. */
  @ApiProperty({ type: [BatchItemResponse] }) responses!: BatchItemResponse[];
}
