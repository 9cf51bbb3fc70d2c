import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DatabaseBusyError, isConnectionError, isTimeout } from '../../platform/database/database-errors.js';
import { fullStorage } from '../../platform/database/storage-full.js';
import { MailError, mailErrors } from '../mail-error.js';
import { writeJson } from './reply.js';

/** Maps exceptions to error responses. Unexpected exceptions are logged and reveal nothing. */
@Catch()
export class MailExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(MailExceptionFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      // The response has begun: close the connection, so that it cannot look complete.
      response.destroy();
      return;
    }
    const mailError = this.mailErrorOf(error, http.getRequest<Request>());
    const type = mailError.isTransport ? 'application/json' : undefined;
    writeJson(response, mailError.status, mailError.body, type);
  }

  private mailErrorOf(error: unknown, request: Request): MailError {
    if (error instanceof MailError) return error;
    if (error instanceof NotFoundException) return mailErrors.noRoute(request.path);
    if (error instanceof DatabaseBusyError || isConnectionError(error) || isTimeout(error))
      return mailErrors.busy();
    this.logger.error({ err: error, method: request.method }, 'a request failed');
    const storage = fullStorage(error);
    if (storage) return mailErrors.storageFull(storage);
    return mailErrors.internal();
  }
}
