import { keepRequest } from './kept-requests.js';

/** Sends one request. */
export type Transport = (request: Request) => Promise<Response>;

/**
 * @param fetch of the application. Browsers reject a `fetch` that is called as a method, so it is called as a function.
 * @returns without it the `fetch` of the platform, read at each call: test tools and service workers replace it
 */
export function transportOf(fetch: Transport | undefined): Transport {
  return async (request) => keepRequest(request, fetch ? fetch(request) : globalThis.fetch(request));
}
