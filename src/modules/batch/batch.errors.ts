import { ErrorKind } from '../../platform/http/api-error.js';

/** Errors of single requests in a batch. They appear in the response to that request only. */
export const BatchErrors = {
  notBatchable: new ErrorKind(
    422,
    'not_batchable',
    'This request cannot be part of a batch: files, sign-in, `wait` and batches are excluded. Send it alone.',
  ),
  notRun: new ErrorKind(424, 'not_run', 'An earlier request of this batch failed, so this one did not run.'),
  batchFull: new ErrorKind(
    503,
    'batch_full',
    'The responses before this one filled the batch, so this request did not run. Send it in another batch.',
  ),
} as const;
