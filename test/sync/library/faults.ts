import type { Rng } from '../rng.ts';

/**
 * What happens to a request on its way.
 *
 * - `lose`: the service does not get it.
 * - `lose-response`: the service executes it, and the connection ends.
 * - `cut`: the connection ends in the middle of the response.
 * - `late`: the connection ends, and the service gets the request after later ones.
 * - `twice`: the service gets it twice at the same time.
 * - `slow`: the response comes after those of later requests.
 * - `unavailable`, `unavailable-long`: 503 with a Retry-After, which a call waits for or not.
 */
export type Fault =
  | 'none'
  | 'lose'
  | 'lose-response'
  | 'cut'
  | 'late'
  | 'twice'
  | 'slow'
  | 'unavailable'
  | 'unavailable-long';

const WEIGHTS: Record<Fault, number> = {
  none: 70,
  lose: 3,
  'lose-response': 7,
  cut: 3,
  late: 5,
  twice: 4,
  slow: 4,
  unavailable: 2,
  'unavailable-long': 2,
};

export const someFault = (rng: Rng): Fault => rng.weighted(WEIGHTS);

/** A response of a service that is being restarted. */
export function unavailable(retryAfterSeconds: number): Response {
  const body = { error: 'unavailable', message: 'The service restarts.' };
  return Response.json(body, { status: 503, headers: { 'Retry-After': `${retryAfterSeconds}` } });
}

/** @throws the reason of the signal if it aborts before the time is over */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
