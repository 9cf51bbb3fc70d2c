import { ApiError } from '../../../platform/http/api-error.js';
import { DECLARATIONS, element, type XmlName, XML_HEAD } from './xml-names.js';

/** An error of WebDAV with the condition that the RFCs name for it (RFC 4918, section 16). */
export class DavError extends Error {
  /**
   * @param condition null: no RFC names one
   * @param detail XML inside of the condition
   */
  constructor(
    readonly status: number,
    readonly condition: XmlName | null,
    message: string,
    readonly detail = '',
  ) {
    super(message);
  }

  /** The body of the response. */
  get xml(): string {
    const content = this.condition === null ? '' : element(this.condition, this.detail);
    return `${XML_HEAD}<D:error ${DECLARATIONS}>${content}</D:error>\n`;
  }
}

export const notFound = (): DavError => new DavError(404, null, 'No such resource.');
export const forbidden = (condition: XmlName | null = null): DavError =>
  new DavError(403, condition, 'The request is not allowed.');

/** Whether a resource does not exist, or the caller does not see it. */
export function isMissing(error: unknown): boolean {
  const status = error instanceof DavError ? error.status : error instanceof ApiError ? error.kind.status : 0;
  return status === 404;
}
