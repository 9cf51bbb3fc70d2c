import type { FileForm } from './form.js';
import { type ProgressListener, reporter } from './progress.js';

/** Statuses of responses without a body, which `Response` rejects. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Sends a form by XMLHttpRequest, which reports the progress of the request.
 * @throws TypeError as `fetch` does if there is no response, or the reason of the signal
 */
export function sendByXhr(request: Request, form: FileForm, onProgress: ProgressListener): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    xhr.open(request.method, request.url);
    xhr.responseType = 'blob';
    request.headers.forEach((value, name) => xhr.setRequestHeader(name, value));
    xhr.setRequestHeader('Content-Type', form.body.type);
    const report = reporter(form.file, onProgress);
    xhr.upload.addEventListener('progress', ({ loaded }) => report(loaded));
    xhr.addEventListener('load', () => resolve(responseOf(xhr)));
    xhr.addEventListener('error', () =>
      reject(new TypeError('The upload failed: the service cannot be reached.')),
    );
    xhr.addEventListener('abort', () => reject(signal.reason));
    xhr.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
    signal.addEventListener('abort', abort);
    xhr.send(form.body);
  });
}

function responseOf(xhr: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) headers.append(name, value ?? '');
  }
  const body = WITHOUT_BODY.has(xhr.status) ? null : (xhr.response as Blob);
  return new Response(body, { status: xhr.status, statusText: xhr.statusText, headers });
}
