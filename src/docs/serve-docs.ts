import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import compression from 'compression';
import type { RequestHandler } from 'express';
import { API_PREFIX, type Config } from '../config/config.js';
import { API_SCOPE, SWAGGER_CLIENT } from '../modules/sign-in/index.js';
import { docsHeaders, JSON_HEADERS } from '../platform/http/security-headers.js';
import { SIGN_IN, SIGN_IN_SCHEME } from './openapi-document.js';
import { etagOf, EXAMPLE_PATH, hasExample, serveExample } from './serve-example.js';

/** A value of the OpenAPI document. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * A plugin of Swagger UI that resolves the references of a part of the document. Its text is part of the script of the page, so
 * that it uses nothing outside of itself.
 *
 * Swagger UI resolves a document of OpenAPI 3.1 as a whole each time that an operation is opened, which takes many seconds of
 * the browser's processor for a document of this size. Ours has references to its own components only, none of them circular,
 * and a part needs only those that it reaches.
 */
export function resolveOwnReferences() {
  const childOf = (value: Json, key: string): Json => (value as { [key: string]: Json })[key] as Json;
  /** Follows a JSON Pointer (RFC 6901). */
  const find = (document: Json, reference: string): Json =>
    reference
      .slice('#/'.length)
      .split('/')
      .reduce((value, key) => childOf(value, key.replaceAll('~1', '/').replaceAll('~0', '~')), document);
  const resolve = (document: Json, value: Json): Json => {
    if (Array.isArray(value)) return value.map((item) => resolve(document, item));
    if (value === null || typeof value !== 'object') return value;
    const { $ref: reference, ...own } = value;
    const resolved = Object.fromEntries(
      Object.entries(own).map(([key, child]) => [key, resolve(document, child)]),
    );
    if (reference === undefined) return resolved;
    // In an example, `$ref` is a value: SCIM has an attribute of this name.
    if (typeof reference !== 'string' || !reference.startsWith('#/'))
      return { $ref: resolve(document, reference), ...resolved };
    return { ...(resolve(document, find(document, reference)) as object), ...resolved };
  };
  return {
    fn: {
      resolveSubtree: async (document: Json, path: string[]) => ({
        spec: resolve(document, path.reduce(childOf, document)),
        errors: [],
      }),
    },
  };
}

/**
 * Serves the committed `openapi.json` and `asyncapi.json`, compressed and with an ETag, and Swagger UI, which loads the first.
 * They are generated when the code changes, not at each start; contract tests compare them with the code. The example page is beside them.
 */
export function serveDocs(app: NestExpressApplication, config: Config): void {
  const docs = `/${API_PREFIX}/docs`;
  const documentPath = `/${API_PREFIX}/openapi.json`;
  const socketsPath = `/${API_PREFIX}/asyncapi.json`;
  app.use([docs, documentPath, socketsPath], compression());
  app.use(
    documentPath,
    documentHandler('openapi.json', (document) => {
      if (config.signInIssuer === null) withoutSignIn(document);
      if (hasExample(config)) withExample(document);
    }),
  );
  app.use(socketsPath, documentHandler('asyncapi.json'));
  serveExample(app, config);
  app.use(docs, docsHeaders, revalidated);
  // Without a document, because the page loads it from `swaggerUrl` and would otherwise contain it too.
  SwaggerModule.setup(docs, app, {} as OpenAPIObject, {
    raw: false,
    swaggerUrl: documentPath,
    customSiteTitle: 'Workspace API',
    swaggerOptions: {
      plugins: [resolveOwnReferences],
      persistAuthorization: true,
      displayRequestDuration: true,
      docExpansion: 'list',
      filter: true,
      // The operations show their schemas, so the list of all schemas is collapsed.
      defaultModelsExpandDepth: 0,
      ...(config.signInIssuer !== null && signIn(`${config.publicUrl}${docs}`)),
    },
  });
}

/** The text of a committed document, without insignificant spaces, and its ETag. */
function readDocument(name: string, change?: (document: OpenAPIObject) => void) {
  const document = JSON.parse(
    readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'),
  ) as OpenAPIObject;
  change?.(document);
  const text = JSON.stringify(document);
  return { text, etag: etagOf(text) };
}

/** Clients revalidate the page and the script that Nest makes by ETag, as they do with the files of Swagger UI. */
const revalidated: RequestHandler = (_request, response, next) => {
  const send = response.send.bind(response);
  response.send = (body: unknown) => {
    if (typeof body === 'string' && response.statusCode === 200) {
      response.setHeader('Cache-Control', 'no-cache');
      response.setHeader('ETag', etagOf(body));
    }
    return send(body);
  };
  next();
};

/**
 * Responds to GET and HEAD of exactly this path; clients revalidate by ETag. The first request reads the document, so that
 * starts do not wait for it.
 */
function documentHandler(name: string, change?: (document: OpenAPIObject) => void): RequestHandler {
  let read: ReturnType<typeof readDocument> | undefined;
  const fixed = JSON_HEADERS.filter(([header]) => header !== 'Cache-Control');
  return (request, response, next) => {
    if (request.path !== '/' || !['GET', 'HEAD'].includes(request.method)) return next();
    read ??= readDocument(name, change);
    for (const [header, value] of fixed) response.setHeader(header, value);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', read.etag);
    if (request.fresh) response.status(304).end();
    else response.end(read.text);
  };
}

/** The options with which Swagger UI signs in. */
const signIn = (docs: string) => ({
  oauth2RedirectUrl: `${docs}/oauth2-redirect.html`,
  initOAuth: {
    clientId: SWAGGER_CLIENT,
    scopes: [API_SCOPE],
    usePkceWithAuthorizationCodeGrant: true,
  },
});

/** Removes the built-in sign-in from the document when an external issuer replaces it. */
function withoutSignIn(document: OpenAPIObject): void {
  document.info.description = document.info.description?.replace(`${SIGN_IN}\n\n`, '');
  delete document.components?.securitySchemes?.[SIGN_IN_SCHEME];
  // Operations with this scheme have no security of their own: they inherit that of the document.
  document.security = document.security?.filter((scheme) => !(SIGN_IN_SCHEME in scheme));
}

/** Links the example page. */
function withExample(document: OpenAPIObject): void {
  document.info.description += `\n\n**Example**: [a page with notes](${EXAMPLE_PATH}) that works without a connection, by the client library.`;
}
