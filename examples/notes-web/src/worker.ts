// The service worker: keeps the files of the page, so that it opens without a connection. Data are no business of it.
/** The part of the service worker's global scope that is used: its types and those of the page exclude each other. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  addEventListener(type: 'install' | 'fetch', listener: (event: WorkerEvent) => void): void;
  skipWaiting(): Promise<void>;
}

interface WorkerEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}

const worker = globalThis as unknown as WorkerScope;
const CACHE = 'notes-web';
const page = worker.registration.scope;
const FILES = [page, `${page}/notes-web.css`, `${page}/notes-web.js`];

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
  void worker.skipWaiting();
});

worker.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const file = origin + pathname;
  if (FILES.includes(file)) event.respondWith(newest(event.request, file));
});

/** The file of the service, or the last one without a connection. */
async function newest(request: Request, file: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(file, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(file);
    if (kept) return kept;
    throw error;
  }
}
