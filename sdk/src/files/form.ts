import { randomKey } from '../random-key.js';
import type { Section } from './progress.js';

/** A body with one file. */
export interface FileForm {
  /** Refers to the file: it is read while the body is sent. */
  body: Blob;
  /** Where the file is in the body. */
  file: Section;
}

/**
 * Encodes a file as `multipart/form-data` (RFC 7578). `FormData` does not tell where the file begins, which its progress needs, and
 * has another boundary in each request: an Idempotency-Key belongs to the same bytes.
 * @param name of the file, escaped as HTML requires for forms
 */
export function formOf(file: Blob, name: string): FileForm {
  const boundary = `workspace-${randomKey()}`;
  const fileName = name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
  const disposition = `Content-Disposition: form-data; name="file"; filename="${fileName}"`;
  const type = `Content-Type: ${file.type || 'application/octet-stream'}`;
  const start = new Blob([`--${boundary}\r\n${disposition}\r\n${type}\r\n\r\n`]);
  const body = new Blob([start, file, `\r\n--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  });
  return { body, file: { start: start.size, size: file.size } };
}
