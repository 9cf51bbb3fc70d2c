import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { API_PREFIX, type Config } from '../config/config.js';
import { API_SCOPE, SWAGGER_CLIENT } from '../modules/sign-in/index.js';
import { SIGN_IN, SIGN_IN_SCHEME } from './openapi-document.js';
import { JsonReply } from '../platform/http/json-reply.js';
import { writeJson } from '../platform/http/lean-express.adapter.js';
import { docsHeaders } from '../platform/http/security-headers.js';

/**
 * Serves the committed `openapi.json` and Swagger UI over it. The document is generated when the code changes, not at
 * each start; a contract test compares it with the code.
 */
export function serveDocs(app: NestExpressApplication, config: Config): void {
  const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as OpenAPIObject;
  if (config.signInIssuer === null) withoutSignIn(document);
  const reply = new JsonReply(JSON.stringify(document));
  const docs = `/${API_PREFIX}/docs`;
  app.use(`/${API_PREFIX}/openapi.json`, (request: Request, response: Response, next: NextFunction) => {
    if (request.path !== '/' || !['GET', 'HEAD'].includes(request.method)) return next();
    writeJson(response, 200, reply.json);
  });
  app.use(docs, docsHeaders);
  SwaggerModule.setup(docs, app, document, {
    raw: false,
    customSiteTitle: 'Workspace API',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      filter: true,
      // The operations show their schemas; the list of all of them stays closed.
      defaultModelsExpandDepth: 0,
      ...(config.signInIssuer !== null && signIn(`${config.publicUrl}${docs}`)),
    },
  });
}

/** What Swagger UI needs to sign in as a client of ours. */
const signIn = (docs: string) => ({
  oauth2RedirectUrl: `${docs}/oauth2-redirect.html`,
  initOAuth: {
    clientId: SWAGGER_CLIENT,
    scopes: [API_SCOPE],
    usePkceWithAuthorizationCodeGrant: true,
  },
});

/** Where people sign in at an external issuer, nothing is said of a sign-in that is not here. */
function withoutSignIn(document: OpenAPIObject): void {
  document.info.description = document.info.description?.replace(`${SIGN_IN}\n\n`, '');
  delete document.components?.securitySchemes?.[SIGN_IN_SCHEME];
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations) as { security?: Record<string, string[]>[] }[])
      operation.security = operation.security?.filter((scheme) => !(SIGN_IN_SCHEME in scheme));
}
