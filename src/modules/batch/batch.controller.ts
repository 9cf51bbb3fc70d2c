import { Body, Controller, Req } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { AuthenticatedRequest } from '../../platform/context/request-context.js';
import { DisconnectSignal } from '../../platform/http/abort-signal.js';
import { BODY_ERRORS } from '../../platform/http/api-docs.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { BodyLimit } from '../../platform/http/body/body-limits.js';
import { Errors } from '../../platform/http/errors.js';
import { Batch, MAX_REQUESTS, parseBatch } from './batch.dto.js';
import { BatchEnvelope } from './batch.response.js';
import { BatchService } from './batch.service.js';

/** Bytes of JSON of all requests together. */
const BATCH_BODY_BYTES = 8 * 1024 * 1024;
/** Each request has the limit of its operation, too. */
const BATCH_VALUES = 100_000;

const EXAMPLE = {
  mode: 'ordered',
  requests: [
    { id: 'create', method: 'POST', path: '/apis/v1/notes', body: { title: 'Written offline' } },
    { id: 'list', method: 'GET', path: '/apis/v1/notes?limit=1&include=summary' },
  ],
};

@Controller('batch')
export class BatchController {
  constructor(private readonly batches: BatchService) {}

  @Endpoint('POST', {
    tag: 'sync',
    id: 'runBatch',
    summary: 'Run several requests at once',
    description: `Our addition, for clients that work offline. Up to ${MAX_REQUESTS} requests of the caller, each with its own status, headers and body; each passes the same checks and limits as a single request. A batch is no transaction: a failed request undoes none of the others. Give writes an \`Idempotency-Key\`, so that the batch can be sent again after a lost response. Each response can have the errors of its own operation, 422 \`not_batchable\` (files, sign-in, \`wait\`, batches), 424 \`not_run\` (after a failure, with \`stop_on_error\`) and 503 \`batch_full\` (responses beyond 16 MiB).`,
    errors: [Errors.validationFailed, ...BODY_ERRORS],
    response: [BatchEnvelope, 'One response for each request, in their order.'],
  })
  @ApiBody({ type: Batch, examples: { batch: { value: EXAMPLE } } })
  @BodyLimit(BATCH_BODY_BYTES, BATCH_VALUES)
  run(
    @Req() request: AuthenticatedRequest,
    @Body() body: unknown,
    @DisconnectSignal() disconnected: AbortSignal,
  ) {
    return this.batches.run(request, parseBatch(body), disconnected);
  }
}
