import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DatabaseBusyError, isConnectionError, isTimeout } from '../../platform/database/database-errors.js';
import { MailError, refuse } from './mail-error.js';
import { writeJson } from './reply.js';

/** Turns whatever is thrown into an answer of the mail interface. What is not a refusal is logged and says nothing. */
@Catch()
export class MailExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(MailExceptionFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      // The answer has begun: breaking it off is the only way left to say that it is not whole.
      response.destroy();
      return;
    }
    const refusal = this.refusal(error, http.getRequest<Request>());
    const type = refusal.isTransport ? 'application/json' : undefined;
    writeJson(response, refusal.status, refusal.body, type);
  }

  private refusal(error: unknown, request: Request): MailError {
    if (error instanceof MailError) return error;
    if (error instanceof NotFoundException) return refuse.noRoute(request.path);
    if (error instanceof DatabaseBusyError || isConnectionError(error) || isTimeout(error))
      return refuse.busy();
    this.logger.error({ err: error, method: request.method }, 'a request failed');
    return refuse.internal();
  }
}
