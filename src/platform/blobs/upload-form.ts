import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { MultipartBody } from '../http/body.guard.js';

/** A form with a file that has not been read yet: `Uploads` reads it, once it is clear that the caller may send it. */
export class UploadForm {
  constructor(
    readonly request: Request,
    readonly response: Response,
  ) {}
}

/** The form of a request whose handler is `@TakesFile()`. */
export const Form = createParamDecorator((_: unknown, context: ExecutionContext): UploadForm => {
  const http = context.switchToHttp();
  return new UploadForm(http.getRequest<Request>(), http.getResponse<Response>());
});

/** The handler takes a `multipart/form-data` body with one file. @param maxBytes of the file, for the documentation */
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
            description: `At most ${maxBytes} bytes. Exactly one; any name of the field is taken.`,
          },
        },
      },
    }),
  );
}
