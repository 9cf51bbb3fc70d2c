import { fieldError } from '../http/errors.js';
import { OutboundHttpError } from './outbound-http.js';

/**
 * Checks an address that a request contains.
 * @param http whose requests will use it
 * @param field of the request
 * @throws ApiError 422 for an address that is not allowed
 */
export function assertAddressField(
  http: { assertAllowed(address: string): void },
  field: string,
  address: string,
): void {
  try {
    http.assertAllowed(address);
  } catch (error) {
    if (error instanceof OutboundHttpError) throw fieldError(field, 'invalid', error.message);
    throw error;
  }
}
