import { type HtmlPolicy, HtmlTooComplexError } from '../html/html-policy.js';
import { fieldError } from '../http/errors.js';

/**
 * Cleans an HTML field of a body according to the HTML policy.
 * @param field its name in the body
 * @throws ApiError 422 `validation_failed` when the HTML is too complex to check
 */
export async function cleanHtmlField(policy: HtmlPolicy, field: string, html: string): Promise<string> {
  try {
    return await policy.check(html);
  } catch (error) {
    if (!(error instanceof HtmlTooComplexError)) throw error;
    const message = `${field} is nested too deeply or has too many elements`;
    throw fieldError(field, error.code, message);
  }
}
