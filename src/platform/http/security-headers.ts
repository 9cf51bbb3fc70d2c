import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The headers that helmet sets, computed once, because they do not depend on the request. Setting a dozen of them one by one takes a
 * measurable part of the time of a small read.
 */
function headersOf(middleware: ReturnType<typeof helmet>): readonly [string, string][] {
  const headers: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);
  return headers;
}

/** For JSON: browsers load, frame and execute nothing of it, and shared caches do not store it. */
export const JSON_HEADERS: readonly [string, string][] = [
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'private, no-store'],
  ...headersOf(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      },
      crossOriginResourcePolicy: { policy: 'same-site' },
      referrerPolicy: { policy: 'no-referrer' },
      xFrameOptions: { action: 'deny' },
    }),
  ),
];

/** Headers that differ between HTML pages. */
const OF_EACH_PAGE = ['Content-Type', 'Cache-Control', 'Content-Security-Policy'];

/**
 * The pages of the sign-in have the same without the headers that differ between pages and without an opener policy. Clients open
 * these pages in a popup, which would lose its opener at the issuer of a workspace or at a client of another origin.
 */
export const pageHeaders: readonly [string, string][] = JSON_HEADERS.filter(
  ([name]) => ![...OF_EACH_PAGE, 'Cross-Origin-Opener-Policy'].includes(name),
);

/** For Swagger UI, which has its own scripts and inline styles, and opens the sign-in in a popup. */
export const docsHeaders = helmet({
  crossOriginOpenerPolicy: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
});

/** For the example page, whose scripts, styles and calls are of this origin. It links pages of the documentation only. */
export const exampleHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ['data:'],
      connectSrc: ["'self'"],
      workerSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
});
