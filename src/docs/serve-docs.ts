import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { JsonReply } from '../platform/http/json-reply.js';
import { writeJson } from '../platform/http/lean-express.adapter.js';
import { docsHeaders } from '../platform/http/security-headers.js';

/**
 * Serves the committed `openapi.json` and Swagger UI over it. The document is generated when the code changes, not at
 * each start; a contract test compares it with the code.
 */
export function serveDocs(app: NestExpressApplication, prefix: string): void {
  const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  const reply = new JsonReply(JSON.stringify(JSON.parse(text)));
  const docs = `/${prefix}/docs`;
  app.use(`/${prefix}/openapi.json`, (request: Request, response: Response, next: NextFunction) => {
    if (request.path !== '/' || !['GET', 'HEAD'].includes(request.method)) return next();
    writeJson(response, 200, reply.json);
  });
  app.use(docs, docsHeaders);
  SwaggerModule.setup(docs, app, JSON.parse(text) as OpenAPIObject, {
    raw: false,
    customSiteTitle: 'Workspace API',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      filter: true,
      // The operations show their schemas; the list of all of them stays closed.
      defaultModelsExpandDepth: 0,
    },
  });
}
