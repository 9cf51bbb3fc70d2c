import { type ArgumentsHost, Catch } from '@nestjs/common';
import { DATABASE_STORAGE, Dependencies } from '../../platform/observability/dependencies.js';
import { type ApiError, Errors } from '../../platform/http/errors.js';
import { ApiExceptionFilter, asApiError } from '../../platform/http/server/exception.filter.js';
import { MailErrors } from './mail.response.js';

/** The contract's error `Internal server error` for unexpected exceptions on mail routes (section 7). */
export function asMailError(thrown: unknown): ApiError {
  const error = asApiError(thrown);
  return error.kind === Errors.internal
    ? Object.assign(MailErrors.internal.with(), { cause: thrown })
    : error;
}

@Catch()
export class MailExceptionFilter extends ApiExceptionFilter {
  constructor(dependencies: Dependencies) {
    super(() => dependencies.reportFull(DATABASE_STORAGE));
  }

  override catch(thrown: unknown, host: ArgumentsHost): void {
    const error = asMailError(thrown);
    // oxlint-disable-next-line promise/valid-params -- the method of a Nest filter, not of a promise
    super.catch(error.kind === MailErrors.internal ? error : thrown, host);
  }
}
