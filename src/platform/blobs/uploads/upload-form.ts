import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { MultipartBody } from '../../http/body/body.guard.js';

/** An unread form with a file. `Uploads` reads it after the authorisation of the caller. */
export class UploadForm {
  constructor(
    readonly request: Request,
    readonly response: Response,
  ) {}
}

/** Injects the form in a `@TakesFile()` handler. */
export const Form = createParamDecorator((_: unknown, context: ExecutionContext): UploadForm => {
  const http = context.switchToHttp();
  return new UploadForm(http.getRequest<Request>(), http.getResponse<Response>());
});

/** The handler accepts a `multipart/form-data` body with one file. @param maxBytes of the file, for the documentation */
export function TakesFile(maxBytes: number): MethodDecorator {
  return applyDecorators(
    MultipartBody(),
    ApiConsumes('multipart/form-data'),
    ApiBody({
      required: true,
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: {
            type: 'string',
            format: 'binary',
            description: `At most ${maxBytes} bytes. Exactly one file; its field may have any name.`,
          },
        },
      },
    }),
  );
}
