/** In Node, the signal of a request ends it only as long as the request is reachable, and `fetch` keeps no request. */
const sending = new Set<Request>();
/** Keeps the request of a body as long as the body is reachable, that is until it is read or given up. */
const receiving = new FinalizationRegistry<Request>(() => undefined);

/**
 * Keeps a request until the end of its response, so that its signal ends it at any time. Not longer than until then: a `fetch` of the
 * application may not settle.
 */
export async function keepRequest(request: Request, sent: Promise<Response>): Promise<Response> {
  sending.add(request);
  const release = (): void => void sending.delete(request);
  request.signal.addEventListener('abort', release, { once: true });
  try {
    const response = await sent;
    if (response.body) receiving.register(response.body, request);
    return response;
  } finally {
    request.signal.removeEventListener('abort', release);
    release();
  }
}
